import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { connect, NexusError } from "../../index.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { McpServer } from "../features/mcp-server.ts";
import { serveHttp, type ServeHttpOptions, type HttpServing } from "./serve-http.ts";

const open: HttpServing[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((serving) => serving.close()))));

async function serve(options: ServeHttpOptions = {}, revisions?: readonly Revision[]) {
  const server = new McpServer({ name: "here", version: "1.0.0", revisions });
  server.tool({ name: "who" }, (_args, { principal, era }) => `${principal.id} ${era}`);
  const serving = await serveHttp(server, options);
  open.push(serving);
  return { server, serving, url: serving.url, sse: serving.url.replace(/mcp$/, "sse") };
}

describe("a server of one's own over HTTP", () => {
  test.each<[string, readonly Revision[] | undefined]>([
    ["2026-07-28", undefined],
    ["2026-07-28", ["2026-07-28"]],
    ["2025-11-25", ["2025-11-25", "2025-06-18"]],
    ["2025-03-26", ["2025-03-26"]],
  ])("is spoken to in %s where it serves %j", async (version, revisions) => {
    const { url } = await serve({}, revisions);
    await using client = await connect({ url });
    expect(client.protocolVersion).toBe(version);
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: `anybody ${client.era}` }] });
  });

  test("serves HTTP+SSE beside Streamable HTTP", async () => {
    const { sse } = await serve();
    await using client = await connect({ url: sse });
    expect(client.era).toBe("legacy");
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: "anybody legacy" }] });
  });

  test("tells clients of both eras what changes while they listen", async () => {
    const { url, sse, server } = await serve();
    for (const address of [url, sse]) {
      await using client = await connect({ url: address });
      const heard: string[] = [];
      await using subscription = await client.subscribe({ lists: ["tools"], resources: ["a://b"] }, ({ kind }) =>
        heard.push(kind),
      );
      server.resource({ uri: "a://b", name: "b" }, () => "b");
      server.tool({ name: `more at ${address}` }, () => "more");
      await expect.poll(() => heard).toContain("list-changed");
      expect(subscription.accepted.lists).toEqual(["tools"]);
      server.remove("tools", `more at ${address}`);
      expect((await client.listTools()).map(({ name }) => name)).toEqual(["who"]);
    }
  });

  test("asks for credentials, and knows who calls", async () => {
    const { url } = await serve({
      authenticate({ authorization }) {
        if (authorization !== "Bearer secret") throw new NexusError("AUTH_REQUIRED", "Send a token");
        return { id: "ada", tenant: "default" };
      },
    });
    await expect(connect({ url })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    await using client = await connect({ url, headers: { Authorization: "Bearer secret" } });
    expect(await client.callTool("who")).toMatchObject({ content: [{ text: "ada modern" }] });
  });

  test("does not listen on other addresses without authentication, nor on a port that is taken", async () => {
    await expect(serve({ address: "0.0.0.0" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await expect(serve({ port })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    other.close();
  });

  test("refuses what names another host, and what is at no address of its own", async () => {
    const { url } = await serve();
    expect((await fetch(url.replace(/mcp$/, "elsewhere"))).status).toBe(404);
    const foreign = await fetch(url, { method: "POST", headers: { origin: "https://elsewhere.example" } });
    expect(foreign.status).toBe(403);
    expect(await foreign.text()).toContain("allowedOrigins");
  });

  test("answers what runs when it closes, and takes nothing afterwards", async () => {
    const { url, server, serving } = await serve();
    const started = new Promise<void>((resolve) => {
      server.tool({ name: "hang" }, (_args, { signal }) => {
        resolve();
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("over"))));
      });
    });
    const client = await connect({ url });
    const call = client.callTool("hang").catch((error: unknown) => error);
    await started;
    await serving.close();
    expect(await call).toMatchObject({ message: expect.stringContaining("The server is shutting down") });
    await client.close();
    await expect(connect({ url })).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  });
});
