import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";

const SECRET = "not-a-real-secret-of-the-client";
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** A site on loopback that remembers what it was sent. */
class Site implements AsyncDisposable {
  readonly heard: string[] = [];
  readonly answers = new Map<string, unknown>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async open(): Promise<Site> {
    const site = new Site();
    site.#server.listen(0, "127.0.0.1");
    await once(site.#server, "listening");
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The endpoint of an authorization server. */
  issues(tokenEndpoint = `${this.origin}/token`): void {
    this.answers.set("/.well-known/oauth-authorization-server", {
      issuer: this.origin,
      token_endpoint: tokenEndpoint,
      token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt"],
    });
  }

  /** An MCP server that names an authorization server. */
  requires(issuer: string): void {
    this.answers.set("/.well-known/oauth-protected-resource/mcp", {
      resource: `${this.origin}/mcp`,
      authorization_servers: [issuer],
    });
  }

  get wasSentASecret(): boolean {
    return /not-a-real-secret|client_assertion=/.test(this.heard.join("\n"));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.heard.push(`${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`);
    const answer = this.answers.get(request.url ?? "");
    response.writeHead(answer === undefined ? (request.url?.startsWith("/mcp") ? 401 : 404) : 200, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify(answer ?? { error: "invalid_client" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

let world: NexusWorld;
let server: Site;
let issuer: Site;
let third: Site;
beforeEach(async () => {
  [world, server, issuer, third] = await Promise.all([NexusWorld.open(), Site.open(), Site.open(), Site.open()]);
  server.requires(issuer.origin);
  issuer.issues();
});
afterEach(async () => {
  for (const each of [world, server, issuer, third]) await each[Symbol.asyncDispose]();
});

const OF_CLIENT = { grant: "client_credentials", clientId: "ci", clientSecret: "${secret:key}" };

const BY_KEY = { grant: "client_credentials", clientId: "ci" };

const WAYS: [way: string, value: string, to: () => Site, oauth: () => object, arrange?: () => void][] = [
  ["the authorization server that an MCP server names", SECRET, () => issuer, () => OF_CLIENT],
  ["the configured issuer", SECRET, () => issuer, () => ({ ...OF_CLIENT, issuer: issuer.origin })],
  [
    "a token endpoint at another place than its issuer",
    SECRET,
    () => third,
    () => OF_CLIENT,
    () => issuer.issues(`${third.origin}/token`),
  ],
  ["a token endpoint, as a signature", KEY, () => issuer, () => ({ ...BY_KEY, privateKey: "${secret:key}" })],
  [
    "a token endpoint, as an assertion",
    SECRET,
    () => issuer,
    () => ({ grant: "jwt_bearer", clientId: "ci", assertion: "${secret:key}" }),
  ],
  [
    "an identity provider, as the secret of its client",
    SECRET,
    () => third,
    () => enterprise({ clientSecret: "${secret:key}", idToken: "plain" }),
    () => third.issues(),
  ],
  [
    "an identity provider's token endpoint, as an ID token",
    SECRET,
    () => third,
    () => enterprise({ tokenEndpoint: `${third.origin}/token`, idToken: "${secret:key}" }),
  ],
];

function enterprise(more: object): object {
  return { grant: "enterprise", clientId: "ci", identityProvider: { issuer: third.origin, clientId: "idp", ...more } };
}

test.each(WAYS)(
  "a secret that is limited to the MCP server's address is not sent to %s before that is allowed (X9)",
  async (_way, value, to, oauth, arrange) => {
    arrange?.();
    await world.configure({ notes: { url: `${server.origin}/mcp`, oauth: oauth() } });
    await world.run(["secrets", "set", "key"], { stdin: value });
    await world.run(["secrets", "allow", "key", server.origin]);
    const refused = await world.run(["mcp", "ping", "notes"]);
    expect(refused.stderr).toContain(`The secret key may not be sent to ${to().origin}`);
    expect(refused.stderr).toContain(`nexus secrets allow key ${to().origin}`);
    expect(refused.code).toBe(8);
    for (const site of [server, issuer, third]) expect(site.wasSentASecret).toBe(false);

    await world.run(["secrets", "allow", "key", to().origin]);
    await world.run(["mcp", "ping", "notes"]);
    expect(to().wasSentASecret).toBe(true);
  },
);

test("a secret without origins is limited to the authorization server that it is sent to first (X9)", async () => {
  await world.configure({ notes: { url: `${server.origin}/mcp`, oauth: OF_CLIENT } });
  await world.run(["secrets", "set", "key"], { stdin: SECRET });
  const first = await world.run(["mcp", "ping", "notes", "--verbose"]);
  expect(first.stderr).toContain(`The secret key is now limited to ${issuer.origin}`);
  expect(issuer.wasSentASecret).toBe(true);

  server.requires(third.origin);
  third.issues();
  await world.run(["mcp", "ping", "notes"]);
  expect(third.wasSentASecret).toBe(false);
});

test("a secret in the query of a server's address does not reach its authorization server as the resource (X9)", async () => {
  await world.configure({ notes: { url: `${server.origin}/mcp?key=\${secret:key}`, oauth: BY_KEY } });
  server.answers.delete("/.well-known/oauth-protected-resource/mcp");
  server.answers.set("/.well-known/oauth-authorization-server", {
    issuer: server.origin,
    token_endpoint: `${issuer.origin}/token`,
  });
  await world.run(["secrets", "set", "key"], { stdin: SECRET });
  await world.run(["secrets", "allow", "key", server.origin]);
  const { stderr } = await world.run(["mcp", "ping", "notes"]);
  expect(stderr).toContain(`The secret key may not be sent to ${issuer.origin}`);
  expect(issuer.wasSentASecret).toBe(false);
});
