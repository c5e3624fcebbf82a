import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quoteWord } from "../../../src/text/shell-words.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { startHttpFixture, type HttpFixture } from "../../fixtures/servers/http-fixture.ts";

const KEYS_OF_AN_ENTRY = /"(?:command|args|env|cwd|headers|connection_timeout)"/;

/** A web site at a free port. */
async function site(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, [Symbol.asyncDispose]: close };
}

describe("hints for a server on the command line", () => {
  let world: NexusWorld;
  let web: HttpFixture;

  beforeAll(async () => {
    world = await NexusWorld.open();
    web = await startHttpFixture();
  });
  afterAll(async () => {
    await web.close();
    await world[Symbol.asyncDispose]();
  });

  const mcp = (...args: string[]) => world.run(["mcp", ...args]);

  test("an unknown resource is followed by commands with the same --url", async () => {
    const { code, stderr } = await mcp("read", "memo://friday", "--url", web.url);
    expect(code).toBe(6);
    const again = `--url ${quoteWord(web.url)}`;
    expect(stderr).toContain(`"nexus mcp resources ${again}" and "nexus mcp templates ${again}" list`);
  });

  test("an unknown tool is followed by a command with the same --url", async () => {
    const { code, stderr } = await mcp("tools", "--name", "nope", "--url", web.url);
    expect(code).toBe(6);
    expect(stderr).toContain(`"nexus mcp tools --url ${quoteWord(web.url)}" lists all`);
  });

  test("mcp read without a URI needs <uri> with a server in place, and <server> without", async () => {
    expect(await mcp("read", "--url", web.url)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`"nexus mcp read" needs <uri>`) as string,
    });
    expect((await mcp("read")).stderr).toContain(`"nexus mcp read" needs <server>`);
    expect((await mcp("request", "--stdio", "node x.js")).stderr).toContain(`"nexus mcp request" needs <method>`);
  });

  test.each([
    ["tools", []],
    ["connect", []],
    ["call", ["echo"]],
  ])("mcp %s of a server that requires credentials names --header", async (command, words) => {
    await using locked = await site((_request, response) => void response.writeHead(401).end());
    const { code, stderr } = await mcp(command, ...words, "--url", locked.url);
    expect(code).toBe(8);
    expect(stderr).toContain(`If the server expects an API key, add it: --header "Authorization: Bearer …".`);
    expect(stderr).not.toMatch(KEYS_OF_AN_ENTRY);
  });

  test.each<[string, number, string]>([
    ["an empty 404", 404, ""],
    ["a 404 with a JSON-RPC error", 404, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Not found"}}`],
    ["an empty 405", 405, ""],
    ["a 405 with a JSON-RPC error", 405, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Not allowed"}}`],
    ["a web page", 200, "<!doctype html><title>Welcome</title>"],
  ])("a wrong path that is answered with %s exits 4, with the usual addresses to try", async (_, status, body) => {
    const type = body.startsWith("{") ? "application/json" : "text/html";
    await using other = await site((_request, response) => {
      response.writeHead(status, { "Content-Type": type }).end(body);
    });
    const { origin, host } = new URL(other.url);
    const { code, stderr } = await mcp("tools", "--url", `${origin}/wrong`);
    expect(code).toBe(4);
    expect(stderr).toContain(`${origin}/mcp\n`);
    expect(stderr).toContain(`${origin}/sse\n`);
    expect(stderr).toContain(`localhost-${host.split(":")[1]}\n`);
    expect(stderr).not.toContain(`"url"`);
  });

  test("a server that does not answer in time names --timeout", async () => {
    await using silent = await site(() => {});
    for (const where of [
      ["--url", silent.url],
      ["--stdio", `${quoteWord(process.execPath)} -e "process.stdin.resume()"`],
    ]) {
      const { code, stderr } = await mcp("tools", ...where, "--timeout", "1s");
      expect(code).toBe(7);
      expect(stderr).toContain("raise --timeout");
      expect(stderr).not.toMatch(KEYS_OF_AN_ENTRY);
    }
  });

  test.skipIf(process.platform === "win32")("a misspelled command is followed by the corrected --stdio", async () => {
    const { code, stderr } = await mcp("tools", "--stdio", "nodee server.js");
    expect(code).toBe(4);
    expect(stderr).toContain("Command not found: nodee");
    expect(stderr).toContain("--stdio 'node server.js'");
    expect(stderr).not.toMatch(KEYS_OF_AN_ENTRY);
  });
});
