import { describe, expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { McpServer, serveHttp } from "../../server/index.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { connect, type WebConnectOptions, type WebServerEntry } from "./index.ts";

const NOWHERE = "http://127.0.0.1:9/mcp";

describe.each<[era: string, Revision]>([
  ["modern", "2026-07-28"],
  ["legacy", "2025-11-25"],
])("a client over fetch, at a %s server", (_era, revision) => {
  test("calls tools with the headers of its entry, hears of progress, and cancels", async () => {
    const server = new McpServer({ name: "own", version: "1.0.0", revisions: [revision] });
    server.tool("count", {}, (_args, { progress, principal }) => {
      for (const at of [1, 2, 3]) progress({ progress: at, total: 3 });
      return principal.id;
    });
    server.tool("wait", {}, (_args, { signal }) => {
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
    });
    const authenticate = ({ authorization = "" }) => ({ id: authorization, tenant: "default" });
    await using serving = await serveHttp(server, { port: 0, authenticate });
    await using client = await connect({ url: serving.url, headers: { Authorization: "Bearer ada" } });
    const seen: number[] = [];
    const result = await client.callTool("count", {}, { onProgress: ({ progress }) => void seen.push(progress) });
    expect(client.protocolVersion).toBe(revision);
    expect([seen, result.content[0]?.text]).toEqual([[1, 2, 3], "Bearer ada"]);
    const stop = new AbortController();
    const waiting = failure(client.callTool("wait", {}, { signal: stop.signal }));
    stop.abort();
    expect(await waiting).toMatchObject({ code: "CANCELLED" });
  });
});

test("an address where nobody listens, and a redirect, are errors that say so", async () => {
  expect(await failure(connect({ url: NOWHERE }))).toMatchObject({ code: "CONNECTION_FAILED" });
  const fetch = async () => Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
  expect(await failure(connect({ url: NOWHERE }, { fetch }))).toMatchObject({ code: "REDIRECT_REFUSED" });
});

test.each<[what: string, entry: object, options: object, message: string]>([
  ["headers of the runtime", { headers: new Headers({ a: "b" }) }, {}, "The headers of connect are not a plain object"],
  ["no object for auth", {}, { auth: true }, "The option auth of connect is not an object"],
  ["no function for fetch", {}, { fetch: "fetch" }, "The option fetch of connect is not a function"],
])("%s is an error before anything is sent", async (_what, entry, options, message) => {
  const given: WebServerEntry = { url: NOWHERE, ...entry };
  const error = await failure(connect(given, options as WebConnectOptions));
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message });
});
