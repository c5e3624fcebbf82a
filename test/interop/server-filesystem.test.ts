import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connect, Host, type Client } from "../../src/index.ts";
import { agreeable, type Asked } from "./answers.ts";
import { packageBin } from "./server-process.ts";

describe("the public server-filesystem (R10)", () => {
  let allowed: string;
  let other: string;
  let client: Client;
  let asked: Asked[];

  beforeAll(async () => {
    [allowed, other] = await Promise.all([folder(), folder()]);
    await writeFile(join(allowed, "note.txt"), "inside");
    await writeFile(join(other, "note.txt"), "outside");
    const answers = agreeable([{ uri: pathToFileURL(allowed).href, name: "allowed" }]);
    asked = answers.asked;
    const program = packageBin("@modelcontextprotocol/server-filesystem");
    client = await connect({ command: process.execPath, args: [program] }, { input: answers.input });
    // Nothing may be called before it asked: over a pipe, a question during a call counts as the call's.
    await vi.waitFor(() => expect(asked).not.toEqual([]), { timeout: 60_000, interval: 20 });
    // It takes the roots in after they were given, and says so only to its own log.
    await vi.waitFor(async () => expect(await directories()).toContain(allowed), { timeout: 60_000, interval: 20 });
  });

  afterAll(async () => {
    await client?.close();
    await Promise.all(
      [allowed, other].filter(Boolean).map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })),
    );
  });

  test("asks for the roots by itself, outside any call (R4)", () => {
    expect(asked).toEqual([expect.objectContaining({ method: "roots/list", duringCall: false })]);
  });

  test("reads where the roots let it (R4, N7)", async () => {
    const result = await client.callTool("read_text_file", { path: join(allowed, "note.txt") });
    expect(result).toMatchObject({ content: [{ text: "inside" }] });
  });

  test("refuses everything else, with a result that says so (R4)", async () => {
    const result = await client.callTool("read_text_file", { path: join(other, "note.txt") });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Access denied") }] });
  });

  async function directories(): Promise<string> {
    const { content } = await client.callTool("list_allowed_directories", {});
    return String(content[0]?.text);
  }
});

test("the public server-filesystem follows host.setRoots while it runs (R4, R10)", async () => {
  const [first, second, state] = await Promise.all([folder(), folder(), folder()]);
  const program = packageBin("@modelcontextprotocol/server-filesystem");
  const files = { command: process.execPath, args: [program], roots: [first] };
  await using host = await Host.open({ servers: { files }, stateFolder: state });
  const directories = async () => String((await host.callTool("files.list_allowed_directories")).content[0]?.text);
  try {
    await vi.waitFor(async () => expect(await directories()).toContain(first), { timeout: 60_000, interval: 20 });
    await host.setRoots([second], "files");
    await vi.waitFor(async () => expect(await directories()).toContain(second), { timeout: 60_000, interval: 20 });
    expect(await directories()).not.toContain(first);
  } finally {
    await host.close();
    await Promise.all([first, second, state].map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })));
  }
});

async function folder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), "nexus-interop-")));
}
