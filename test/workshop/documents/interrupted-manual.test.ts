import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pdfLines, pdfOf } from "../../fixtures/workshop/pdf-writer.ts";
import { PROGRAM } from "./measured-import.ts";

/** Says when the thread that reads the manual has started. */
const TELL = `import { Worker } from "node:worker_threads"; import { syncBuiltinESMExports } from "node:module";
  import threads from "node:worker_threads";
  threads.Worker = class extends Worker { constructor(...given) { super(...given);
    this.once("online", () => process.stderr.write("reading")); } };
  syncBuiltinESMExports();`;

test("X5: Ctrl-C while a large PDF manual is read ends the import at once and leaves no files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-interrupted-"));
  try {
    const lines = Array.from(
      { length: 60 },
      (_, at) => `GET https://orders.test/v1/orders${at} returns the orders ${at}.`,
    );
    await writeFile(join(folder, "large.pdf"), pdfOf(Array.from({ length: 1_500 }, () => pdfLines(lines))));
    const words = ["api", "import", "large.pdf", "--name", "large"];
    const hook = `data:text/javascript,${encodeURIComponent(TELL)}`;
    const child = spawn(process.execPath, ["--import", hook, PROGRAM, ...words], { cwd: folder });
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    const [told] = (await Promise.race([once(child.stderr, "data"), closed])) as [Buffer];
    expect(String(told)).toContain("reading");
    const start = performance.now();
    child.kill("SIGINT");
    const [code, signal] = await closed;
    expect(signal ?? code).toBeOneOf(["SIGINT", 130]);
    // Reading all of it takes many times as long.
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(await readdir(folder)).toEqual(["large.pdf"]);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}, 60_000);
