import { generateKeyPair, exportJWK, exportPKCS8 } from "jose";
import { expect, test } from "vitest";
import { AuthWorld, echo, REDIRECT } from "../fixtures/auth/auth-world.ts";
import { failure } from "../fixtures/failure.ts";

/** Of a client that the authorization server of a test knows. */
const SECRET = "not-a-real-secret-of-desk";
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

test("N3: a person logs in with a code (PKCE, state, resource), and calls work", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();

  expect(await echo(client, "hello")).toBe("hello");
  const [page] = world.pages;
  expect(Object.fromEntries(page?.searchParams ?? [])).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    resource: world.server.url,
    redirect_uri: REDIRECT,
  });
  expect(page?.searchParams.get("scope")?.split(" ")).toContain("mcp:use");
  expect(page?.searchParams.get("state")?.length).toBeGreaterThan(20);
  expect(world.authorization.tokenRequests()).toBe(1);
  expect(world.pages).toHaveLength(1);
  expect(await world.stored()).toMatchObject({
    issuer: world.authorization.issuer,
    resource: world.server.url,
    client: { by: "registration", authentication: "none" },
    tokens: { type: "Bearer", refreshToken: expect.any(String) as string },
  });
});

test("N3: a server whose tokens are JWT for its own address is used like any other", async () => {
  await using world = await AuthWorld.open({ authorization: { accessTokens: "jwt" } });

  expect(await echo(await world.connect(), "hello")).toBe("hello");
  expect((await world.stored())?.tokens?.accessToken.split(".")).toHaveLength(3);
});

test("N3: a stored credential is used by the next process, without a login or a 401", async () => {
  await using world = await AuthWorld.open();
  await world.connect();
  const refused = world.server.answered(401);

  const later = await world.connect(world.credentials({}, { login: undefined }));

  expect(await echo(later, "again")).toBe("again");
  expect(world.server.answered(401)).toBe(refused);
  expect(world.pages).toHaveLength(1);
});

test("N3: without a person, a server that requires a login is AUTH_REQUIRED and says what to do", async () => {
  await using world = await AuthWorld.open();
  const hint = `Run "nexus mcp login notes".`;

  const error = await failure(world.connect(world.credentials({}, { login: undefined, loginHint: () => hint })));

  expect(error).toMatchObject({ code: "AUTH_REQUIRED", details: { hint } });
  expect(world.authorization.requestsTo("/register")).toBe(0);
});

test("a server that does not mention OAuth may expect an API key, and the errors say so", async () => {
  await using world = await AuthWorld.open();
  world.server.metadata = undefined;
  world.server.challenge = "Bearer";
  const loginHint = () => "Log in.";

  const refused = await failure(world.connect(world.credentials({}, { login: undefined, loginHint })));
  const noLogin = await failure(world.credentials().login());

  const hint = `If the server expects an API key, add it to the entry's "headers".`;
  expect(refused).toMatchObject({ code: "AUTH_REQUIRED", details: { hint: `Log in. ${hint}` } });
  expect(noLogin).toMatchObject({
    code: "AUTH_REQUIRED",
    message: `${world.server.url} requires credentials, but no OAuth login was found there`,
    details: { hint },
  });
});

test("a login at a URL that does not exist is not answered with: requires no login", async () => {
  await using world = await AuthWorld.open();
  world.server.instead = (_req, res) => Boolean(res.writeHead(404).end());
  const error = await failure(world.credentials().login());
  expect(error).toMatchObject({ code: "HTTP_STATUS", details: { status: 404 } });
  expect(error.message).toContain("answered with HTTP 404");
});

test("N3: a refused consent is an error that says so", async () => {
  await using world = await AuthWorld.open();
  world.authorization.consent = "refused";

  const error = await failure(world.connect());

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.message).toContain("access_denied");
  expect(error.details.hint).toMatch(/log in again/i);
  expect(await world.stored()).toBeUndefined();
});

test.each([
  ["another state", (url: URL) => url.searchParams.set("state", "forged")],
  ["no state", (url: URL) => url.searchParams.delete("state")],
  ["another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
  ["no issuer although the server announces it", (url: URL) => url.searchParams.delete("iss")],
  ["the issuer written differently", (url: URL) => url.searchParams.set("iss", `${url.searchParams.get("iss")}/`)],
])("N3: an answer to the browser with %s is refused, and the code is not exchanged", async (_, forge) => {
  await using world = await AuthWorld.open();
  world.onReturn = (url) => {
    forge(url);
    return url;
  };

  const error = await failure(world.connect());

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(world.authorization.tokenRequests()).toBe(0);
});

test("N3: an error in an answer of another issuer is not shown", async () => {
  await using world = await AuthWorld.open();
  world.onReturn = (url) =>
    new URL(`${REDIRECT}?error=call-this-number&iss=https://evil.example&state=${url.searchParams.get("state")}`);

  const error = await failure(world.connect());

  expect(`${error.message} ${error.details.hint}`).not.toContain("call-this-number");
});

test("N3: an authorization server without PKCE (S256) is refused before the person sees a page", async () => {
  await using world = await AuthWorld.open();
  world.authorization.onAnswer.set("/.well-known/oauth-authorization-server", ({ body }) => {
    delete body["code_challenge_methods_supported"];
  });

  const error = await failure(world.connect());

  expect(error.message).toContain("PKCE");
  expect(world.pages).toHaveLength(0);
});

test("N3: a client that was registered by hand authenticates with its secret", async () => {
  const registered = {
    client_id: "desk",
    client_secret: SECRET,
    redirect_uris: [REDIRECT],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
  };
  await using world = await AuthWorld.open({ authorization: { registration: false, clients: [registered] } });
  const auth = world.credentials({ clientId: "desk", clientSecret: registered.client_secret });

  expect(await echo(await world.connect(auth), "hello")).toBe("hello");
  expect(await world.stored()).toMatchObject({ client: { clientId: "desk", by: "configuration" } });
});

const ANSWERS: Record<string, { said: object; offered?: string[]; is: string }> = {
  "names neither a method nor a secret: the client is public": { said: {}, is: "none" },
  "has an empty secret: the client is public": { said: { client_secret: "" }, is: "none" },
  "has null as secret: the client is public": {
    said: { client_secret: null, token_endpoint_auth_method: "" },
    is: "none",
  },
  "names a method with a secret but has no secret: the client is public": {
    said: { token_endpoint_auth_method: "client_secret_basic" },
    is: "none",
  },
  "has a secret and names no method: it is sent as client_secret_basic": {
    said: { client_secret: SECRET },
    is: "client_secret_basic",
  },
  "has a secret and names no method: it is sent as the metadata say": {
    said: { client_secret: SECRET },
    offered: ["none", "client_secret_post"],
    is: "client_secret_post",
  },
  "names a method that was not asked for: it is used": {
    said: { client_secret: SECRET, token_endpoint_auth_method: "client_secret_post" },
    is: "client_secret_post",
  },
  "names a method that Nexus does not have: the secret is sent as client_secret_basic": {
    said: { client_secret: SECRET, token_endpoint_auth_method: "client_secret_jwt" },
    is: "client_secret_basic",
  },
  "names a method that the metadata exclude: that of the metadata is used": {
    said: { client_secret: SECRET, token_endpoint_auth_method: "client_secret_basic" },
    offered: ["client_secret_post"],
    is: "client_secret_post",
  },
};

test.each(Object.entries(ANSWERS))("N3: a registration answer that %s", async (_title, { said, offered, is }) => {
  const client = {
    client_id: "desk",
    redirect_uris: [REDIRECT],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: is,
    ...(is !== "none" && { client_secret: SECRET }),
  };
  await using world = await AuthWorld.open({ authorization: { clients: [client] } });
  const { authorization } = world;
  authorization.onAnswer.set("/.well-known/oauth-authorization-server", ({ body }) => {
    body["token_endpoint_auth_methods_supported"] = offered;
  });
  authorization.instead.set("/register", (_request, response) => {
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ client_id: "desk", redirect_uris: [REDIRECT], ...said }));
    return true;
  });

  expect(await echo(await world.connect(), "hello")).toBe("hello");
  expect((await world.stored())?.client).toMatchObject({ by: "registration", authentication: is });
});

test("N3: where clients cannot register, the error tells how to register one by hand", async () => {
  await using world = await AuthWorld.open({ authorization: { registration: false } });

  const error = await failure(world.connect());

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.details.hint).toContain("clientId");
});

test("N3: a client that a metadata document describes needs no registration", async () => {
  const url = "https://client.example/nexus.json";
  const document = {
    client_id: url,
    client_name: "Nexus",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
  };
  await using world = await AuthWorld.open({ authorization: { clientDocuments: new Map([[url, document]]) } });

  expect(await echo(await world.connect(world.credentials({ clientMetadataUrl: url })), "hello")).toBe("hello");
  expect(world.authorization.requestsTo("/register")).toBe(0);
});

test("N3: without a browser, a person enters the code of a device", async () => {
  await using world = await AuthWorld.open();

  const client = await world.connect(world.credentials({ grant: "device_code" }));

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.authorization.tokenRequests(DEVICE)).toBeGreaterThan(0);
  expect(await world.stored()).toMatchObject({ tokens: { refreshToken: expect.any(String) as string } });
});

test("N3: a login with a device code after one with a browser registers a client that may do so", async () => {
  await using world = await AuthWorld.open();
  await world.credentials().login();

  await world.credentials({ grant: "device_code" }).login();

  expect(world.authorization.requestsTo("/register")).toBe(2);
});

test("N3: a device login that the person refuses ends at once", async () => {
  await using world = await AuthWorld.open();
  world.authorization.consent = "refused";

  const error = await failure(world.connect(world.credentials({ grant: "device_code" })));

  expect(error.code).toBe("AUTH_REQUIRED");
  expect(error.message).toContain("access_denied");
});

test("N3: in CI, a program authenticates with a secret, and nobody logs in", async () => {
  const robot = {
    client_id: "robot",
    client_secret: "not-a-real-secret-of-robot",
    redirect_uris: [],
    response_types: [],
    grant_types: ["client_credentials"],
  };
  await using world = await AuthWorld.open({ authorization: { clients: [robot] } });
  const settings = { grant: "client_credentials" as const, clientId: "robot", clientSecret: robot.client_secret };

  const client = await world.connect(world.credentials(settings, { login: undefined }));

  expect(await echo(client, "hello")).toBe("hello");
  expect(world.authorization.tokenRequests("client_credentials")).toBe(1);
});

test("N3: in CI, a program authenticates with a private key (private_key_jwt)", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const robot = {
    client_id: "robot",
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "ES256",
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" }] },
    redirect_uris: [],
    response_types: [],
    grant_types: ["client_credentials"],
  };
  await using world = await AuthWorld.open({ authorization: { clients: [robot] } });
  const settings = {
    grant: "client_credentials" as const,
    clientId: "robot",
    privateKey: await exportPKCS8(privateKey),
    signingAlgorithm: "ES256",
    keyId: "one",
  };

  const client = await world.connect(world.credentials(settings, { login: undefined }));

  expect(await echo(client, "hello")).toBe("hello");
});

test("N3: tokens are bound to a key (DPoP) where the server requires it, also with a nonce", async () => {
  await using world = await AuthWorld.open({ authorization: { dpopNonce: true }, server: { dpop: true } });
  const client = await world.connect();

  expect(await echo(client, "hello")).toBe("hello");
  expect(await world.stored()).toMatchObject({ tokens: { type: "DPoP" }, proofKey: expect.any(Object) as object });
});

test("N3: a tool that needs a further scope causes one more login, for all scopes together", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();

  expect(await client.callTool("erase", {})).toMatchObject({ content: [{ text: "gone" }] });
  expect(world.pages).toHaveLength(2);
  expect(world.pages[1]?.searchParams.get("scope")?.split(" ")).toEqual(
    expect.arrayContaining(["mcp:use", "mcp:admin"]),
  );
  expect(await echo(client, "still")).toBe("still");
});

test("N3: a server that never accepts a scope is asked a few times only", async () => {
  await using world = await AuthWorld.open();
  const client = await world.connect();
  // The token has the scope, and the server asks for it again and again.
  world.server.needed.set("erase", "mcp:admin mcp:more");

  const error = await failure(client.callTool("erase", {}));

  expect(error.code).toBe("FORBIDDEN");
  expect(world.pages.length).toBeLessThanOrEqual(4);
  expect(await echo(client, "still")).toBe("still");
});

test("N3: logout revokes the tokens and forgets them", async () => {
  await using world = await AuthWorld.open();
  const auth = world.credentials();
  const client = await world.connect(auth);
  const token = (await world.stored())?.tokens?.accessToken ?? "";

  expect(await auth.logout()).toMatchObject({ removed: true, revoked: true });

  expect(await world.stored()).toBeUndefined();
  expect(await world.authorization.findToken(token)).toBeUndefined();
  await client.close();
});

test("N3: logout forgets the tokens also if the authorization server does not answer, and says so", async () => {
  await using world = await AuthWorld.open();
  const auth = world.credentials();
  await world.connect(auth);
  await world.authorization.close();

  expect(await auth.logout()).toMatchObject({ removed: true, revoked: false, problem: { code: "CONNECTION_FAILED" } });
  expect(await world.stored()).toBeUndefined();
});
