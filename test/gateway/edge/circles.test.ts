import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serve, type Gateway } from "../../../src/gateway/index.ts";
import { Host } from "../../../src/index.ts";
import { modern, send } from "../../fixtures/gateway/wire.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";
import { bareServer } from "../../fixtures/servers/bare-server.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const TOOL = { name: "look", inputSchema: { type: "object" } };
const PLAIN = { command: process.execPath, args: ["--input-type=module", "-e", bareServer([TOOL])] };

async function toolsAt(url: string): Promise<string[]> {
  const { json } = await send(url, modern("tools/list"));
  return (json.result.tools as { name: string }[]).map(({ name }) => name);
}

describe("gateways that start each other", () => {
  let world: NexusWorld;
  beforeEach(async () => void (world = await NexusWorld.open()));
  afterEach(() => world[Symbol.asyncDispose]());

  /** An entry that starts a gateway with its own file, and leaves a line for each start: through whom it was started. */
  const starting = (file: string) => {
    const note = `require("node:fs").appendFileSync(${JSON.stringify(join(world.root, "starts"))}, process.env.NEXUS_VIA + "\\n");`;
    const become = `process.argv = [process.argv[0], ${JSON.stringify(PROGRAM)}, "serve", "--stdio", "--config", ${JSON.stringify(join(world.root, file))}]; import(${JSON.stringify(PROGRAM)});`;
    return { command: process.execPath, args: ["-e", note + become] };
  };
  /** How many entries led to each of the processes. */
  const depths = async () => {
    const lines = (await readFile(join(world.root, "starts"), "utf8")).trimEnd().split("\n");
    return new Set(lines.map((line) => line.split("=").length - 1));
  };
  const gatewayOf = async (file: string) => {
    const running = world.start(["serve", "--port", "0", "--config", join(world.root, file)]);
    await vi.waitFor(() => expect(running.output.stdout).toContain("Ctrl-C"), { timeout: 60_000 });
    return { ...running, url: /http:\/\/[\d.:]+\/mcp/.exec(running.output.stdout)?.[0] ?? "" };
  };

  test("a gateway that is its own server is started once, ends with a clear error, and costs the others nothing", async () => {
    await world.write("self.json", { mcpServers: { self: starting("self.json"), plain: PLAIN } });
    const { url, output } = await gatewayOf("self.json");
    expect(await toolsAt(url)).toEqual(["plain__look"]);
    await vi.waitFor(() => expect(output.stderr).toContain("would start itself again"), { timeout: 60_000 });
    expect(await depths()).toEqual(new Set([1]));
  });

  test("two gateways that start each other end where the circle closes", async () => {
    await world.write("a.json", { mcpServers: { b: starting("b.json"), plain: PLAIN } });
    await world.write("b.json", { mcpServers: { a: starting("a.json"), inner: PLAIN } });
    const { url } = await gatewayOf("a.json");
    await vi.waitFor(async () => expect(await toolsAt(url)).toEqual(["b__inner__look", "plain__look"]), {
      timeout: 60_000,
    });
    expect(await depths()).toEqual(new Set([1, 2]));
  });

  test("gateways behind gateways without a circle are served", async () => {
    await world.write("a.json", { mcpServers: { b: starting("b.json") } });
    await world.write("b.json", { mcpServers: { c: starting("c.json") } });
    await world.write("c.json", { mcpServers: { plain: PLAIN } });
    const { url } = await gatewayOf("a.json");
    await vi.waitFor(async () => expect(await toolsAt(url)).toEqual(["b__c__plain__look"]), { timeout: 60_000 });
    expect(await depths()).toEqual(new Set([1, 2]));
  });
});

describe("gateways that call each other", () => {
  let stateFolder: string;
  const closing: (() => unknown)[] = [];
  beforeEach(async () => void (stateFolder = await mkdtemp(join(tmpdir(), "nexus-circles-"))));
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await rm(stateFolder, { recursive: true, force: true, maxRetries: 5 });
  });

  const gateway = async () => {
    const host = await Host.open({ servers: { plain: PLAIN }, stateFolder, backoff: { firstMs: 60_000 } });
    const served = await serve({ host, port: 0 });
    closing.push(() => served.close());
    await served.ready();
    return served;
  };
  const use = async ({ host }: Gateway, others: Record<string, string>) => {
    const urls = Object.entries(others).map(([name, url]) => [name, { url }] as const);
    await host.setServers({ plain: PLAIN, ...Object.fromEntries(urls) });
    await host.ready();
  };
  const stateOf = ({ host }: Gateway, server: string) => host.servers().find(({ id }) => id === server)?.state;
  const leadsBack = {
    kind: "failed",
    error: { code: "CONFIG_INVALID", message: "The server is a gateway that forwards to this one: a loop (HTTP 508)" },
  };

  test("a gateway's own address is no server of its own, however it is spelt", async () => {
    const it = await gateway();
    const proxy = createServer((req, res) => {
      const headers = { ...req.headers, host: `127.0.0.1:${it.port}` };
      const passed = request({ port: it.port, path: req.url, method: req.method, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(res);
      });
      req.pipe(passed);
    }).listen(0, "127.0.0.1");
    closing.push(() => (proxy.close(), proxy.closeAllConnections()));
    await once(proxy, "listening");
    const outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    await use(it, {
      self: it.url,
      named: it.url.replace("127.0.0.1", "localhost"),
      one: it.url.replace(/mcp$/, "servers/plain/mcp"),
      old: it.url.replace(/mcp$/, "sse"),
      outside,
    });
    for (const id of ["self", "named", "one", "old", "outside"]) expect(stateOf(it, id)).toMatchObject(leadsBack);
    expect(await toolsAt(it.url)).toEqual(["plain__look"]);
  });

  test("of two gateways that are each other's servers, the second to connect is told so", async () => {
    const [a, b] = [await gateway(), await gateway()];
    await use(a, { b: b.url });
    await use(b, { a: a.url });
    expect(stateOf(b, "a")).toMatchObject(leadsBack);
    expect(await toolsAt(a.url)).toEqual(["plain__look", "b__plain__look"]);
    expect(await toolsAt(b.url)).toEqual(["plain__look"]);
  });

  test("a longer circle is noticed where it closes", async () => {
    const [a, b, c] = [await gateway(), await gateway(), await gateway()];
    await use(a, { b: b.url });
    await use(b, { c: c.url });
    await use(c, { a: a.url });
    expect(stateOf(c, "a")).toMatchObject(leadsBack);
    await expect.poll(() => toolsAt(a.url)).toEqual(["plain__look", "b__plain__look", "b__c__plain__look"]);
  });

  test("gateways behind one another without a circle are served", async () => {
    const [a, b, c] = [await gateway(), await gateway(), await gateway()];
    await use(b, { c: c.url, one: c.url.replace(/mcp$/, "servers/plain/mcp") });
    await use(a, { b: b.url, c: c.url });
    expect(await toolsAt(a.url)).toEqual([
      "plain__look",
      "b__plain__look",
      "b__c__plain__look",
      "b__one__look",
      "c__plain__look",
    ]);
  });
});
