import { expect, test } from "vitest";
import { MemoryCredentials, NexusError, type StoredCredential } from "../../src/index.ts";
import { McpServer, serveHttp } from "../../src/server/index.ts";
import { failure } from "../fixtures/failure.ts";
import { HostWorld, stateOf, textOf, until } from "./world.ts";

/** A server that accepts one token at a time. */
async function openProtected(accepted: { token: string }) {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.tool({ name: "who" }, (_args, { principal }) => principal.id);
  let requests = 0;
  const serving = await serveHttp(server, {
    authenticate: ({ authorization }) => {
      requests++;
      if (authorization !== `Bearer ${accepted.token}`) throw new NexusError("AUTH_REQUIRED", "Send a token");
      return { id: accepted.token, tenant: "default" };
    },
  });
  return { url: serving.url, requests: () => requests, [Symbol.asyncDispose]: () => serving.close() };
}

function credential(server: string, accessToken: string): StoredCredential {
  return {
    server,
    issuer: "https://as.example",
    resource: server,
    client: { clientId: "nexus", by: "configuration", authentication: "none" },
    tokens: { accessToken, type: "Bearer", obtainedAt: 0 },
    scopes: [],
  };
}

test("a server that requires a login is not tried again until somebody has logged in", async () => {
  await using world = await HostWorld.open();
  await using server = await openProtected({ token: "secret-token" });
  const credentials = new MemoryCredentials();
  await using host = await world.host({ notes: { url: server.url } }, { credentials, tenant: "acme" });
  await host.ready();

  expect(stateOf(host, "notes")).toMatchObject({
    kind: "failed",
    error: {
      code: "AUTH_REQUIRED",
      details: { hint: expect.stringMatching(/^Run "nexus mcp login notes --tenant acme"\./) as string },
    },
  });
  expect(stateOf(host, "notes")).not.toHaveProperty("retryAt");
  const before = server.requests();
  // A call tries, because a person waits for it.
  expect(await failure(host.callTool("notes.who"))).toMatchObject({ code: "AUTH_REQUIRED" });
  expect(server.requests()).toBe(before + 1);

  await credentials.save(credential(server.url, "secret-token"));
  await until(host, "notes", "ready");
  expect(textOf(await host.callTool("notes.who"))).toBe("secret-token");
});

test("a login that is replaced by another process is used by the running connection", async () => {
  await using world = await HostWorld.open();
  const accepted = { token: "first-token" };
  await using server = await openProtected(accepted);
  const credentials = new MemoryCredentials();
  await credentials.save(credential(server.url, "first-token"));
  await using host = await world.host({ notes: { url: server.url } }, { credentials });
  await host.ready();
  expect(textOf(await host.callTool("notes.who"))).toBe("first-token");

  accepted.token = "second-token";
  expect(await failure(host.callTool("notes.who"))).toMatchObject({ code: "AUTH_REQUIRED" });
  await credentials.save(credential(server.url, "second-token"));
  expect(textOf(await host.callTool("notes.who"))).toBe("second-token");
});

test("an entry without oauth, or with an Authorization header, uses no login", async () => {
  await using world = await HostWorld.open();
  await using server = await openProtected({ token: "fixed" });
  const loaded: string[] = [];
  const credentials = new (class extends MemoryCredentials {
    override load(url: string) {
      loaded.push(url);
      return super.load(url);
    }
  })();
  const { url } = server;
  const servers = { fixed: { url, headers: { authorization: "Bearer fixed" } }, off: { url, oauth: false } };
  await using host = await world.host(servers, { credentials });
  await host.ready();
  expect(stateOf(host, "fixed")?.kind).toBe("ready");
  expect(await failure(host.callTool("off.who"))).toMatchObject({ code: "AUTH_REQUIRED" });
  expect(loaded).toEqual([]);
});
