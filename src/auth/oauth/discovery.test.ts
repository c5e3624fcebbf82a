import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { authNetwork } from "./auth-network.ts";
import { AuthHttp } from "./auth-http.ts";
import { challengeOf } from "./challenge.ts";
import { discover } from "./discovery.ts";

test("Metadata about another resource is refused, whatever authorization server it names", async () => {
  await using site = await startSite((origin) => ({
    "/.well-known/oauth-protected-resource/mcp": {
      resource: "https://evil.example/mcp",
      authorization_servers: [origin],
    },
    "/.well-known/oauth-authorization-server": { issuer: origin, token_endpoint: `${origin}/token` },
  }));

  const error = await failure(site.discover());
  expect(error).toMatchObject({ code: "AUTH_REQUIRED", hint: expect.stringContaining("not requested") });
  expect(error.message).toContain("https://evil.example/mcp");
});

test("Metadata about another resource is refused also if it names no authorization server", async () => {
  await using site = await startSite(() => ({
    "/.well-known/oauth-protected-resource/mcp": { resource: "https://evil.example/mcp" },
  }));

  expect((await failure(site.discover())).message).toContain("https://evil.example/mcp");
});

test("Lists in metadata that are not lists of strings are ignored", async () => {
  await using site = await startSite((origin) => ({
    "/.well-known/oauth-protected-resource": { resource: origin, authorization_servers: [origin], scopes_supported: 7 },
    "/.well-known/oauth-authorization-server": {
      issuer: origin,
      code_challenge_methods_supported: "S256",
      scopes_supported: ["read", 7],
      token_endpoint_auth_methods_supported: ["none"],
    },
  }));

  const { scopes, authorizationServer, resource } = await site.discover();
  expect(scopes).toBeUndefined();
  expect(resource).toBe(site.origin);
  expect(authorizationServer).toEqual({ issuer: site.origin, token_endpoint_auth_methods_supported: ["none"] });
});

test("security.md: a challenge that is too long to be read quickly says nothing", async () => {
  const read = async (parameters: number) => {
    const header = `Bearer scope="read"${", a=b".repeat(parameters)}`;
    return (await challengeOf({ "www-authenticate": header })).scopes;
  };

  expect(await read(100)).toEqual(["read"]);
  expect(await read(1_000)).toBeUndefined();
});

/** Serves these documents, by path. */
async function startSite(documents: (origin: string) => Record<string, object>) {
  const server = createServer((req, res) => {
    const document = documents(origin)[req.url ?? ""];
    res.writeHead(document ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(document ?? {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = new AuthHttp({ server: origin, openNetwork: authNetwork() });
  return {
    origin,
    discover: () => discover({ server: `${origin}/mcp`, http }),
    async [Symbol.asyncDispose]() {
      await http.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
