import { appendFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { runShown, shownPattern, shownSessions } from "../fixtures/shown-commands.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = await readFile(join(root, "docs/guide/first-server.md"), "utf8");
const steps = guide.split(/^(?=## )/m);
const posix = test.runIf(process.platform !== "win32");
let home: string;
let folder: string;
/** What `nexus mcp install` said that it wrote. */
const installed: { client: string; file: string }[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "nexus-first-server-"));
});

afterAll(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

posix(
  "N1: the guide for a first server shows what its commands print, step by step",
  { timeout: 180_000 },
  async () => {
    folder = home;
    for (const step of steps) {
      await saveFiles(step);
      for (const { command, output } of shownSessions(step)) await type(command, output);
    }
  },
);

posix("N1: the clients of the guide start the server with what was installed", { timeout: 60_000 }, async () => {
  expect(installed.map(({ client }) => client)).toEqual(["VS Code", "Claude Desktop"]);
  for (const { client: name, file } of installed) {
    const written = JSON.parse(await readFile(file, "utf8")) as Record<string, Record<string, Entry>>;
    const entry = Object.values(written)[0]?.["word-counter"];
    const client = await connect({ ...entry, env: { HOME: home } });
    const tool = (await client.listTools()).find((each) => each.name.endsWith("frequent_words"))?.name ?? "";
    expect((await client.callTool(tool, { text: "a rose is a rose", limit: 1 })).content[0]?.text, name).toBe("a: 2");
    await client.close();
  }
});

interface Entry {
  command: string;
  args: string[];
  cwd?: string;
}

/** The first file of a step replaces what is there; what belongs to the tests is added to them. */
async function saveFiles(step: string): Promise<void> {
  for (const [, file = "", code = ""] of step.matchAll(/^```js (\S+)\n([\s\S]*?)^```/gm)) {
    await (file.startsWith("test/") ? appendFile : writeFile)(join(folder, file), code);
  }
}

async function type(command: string, output: string): Promise<void> {
  const [line = "", comment = ""] = command.split(/\s+# exit code /);
  if (line.startsWith("cd ")) {
    folder = join(folder, line.slice(3));
  } else if (line === "npm install") {
    // What npm does for a package that is a folder.
    await mkdir(join(folder, "node_modules"));
    await symlink(root, join(folder, "node_modules/nexus-mcp"), "junction");
  } else {
    const ran = await runShown(line, { root, home, folder });
    expect(ran.code, ran.output).toBe(Number(comment));
    expect(ran.output.replaceAll(home, "~").trimEnd()).toMatch(shownPattern(output));
    const [, client, file = ""] = / to (.+) \((~.+), a new file\)/.exec(ran.output.replaceAll(home, "~")) ?? [];
    if (client !== undefined) installed.push({ client, file: file.replace("~", home) });
  }
}
