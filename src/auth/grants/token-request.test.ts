import { decodeJwt, EmbeddedJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { ScriptedTokenEndpoint, TOKEN } from "../../../test/fixtures/auth/scripted-token-endpoint.ts";
import { ProofKey } from "../oauth/proof-key.ts";
import { clientCredentials } from "./client-credentials.ts";

test("a token request contains the resource and the scopes, and the answer becomes a token set", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({
    body: { access_token: "token-1", token_type: "BEARER", expires_in: "90", refresh_token: "again", scope: "read" },
  });

  expect(await clientCredentials(endpoint.request())).toEqual({
    accessToken: "token-1",
    type: "Bearer",
    obtainedAt: 1_000_000,
    expiresAt: 1_090_000,
    refreshToken: "again",
    scope: "read",
  });
  expect(endpoint.form()).toEqual({
    grant_type: "client_credentials",
    client_id: "client-1",
    resource: "https://mcp.example/mcp",
    scope: "read write",
  });
});

test("a token request without scopes has no scope, and an answer without a lifetime has no expiry", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({ body: { access_token: "t", token_type: "Bearer" } });

  const tokens = await clientCredentials(endpoint.request({ scopes: undefined }));
  expect(tokens).toEqual({ accessToken: "t", type: "Bearer", obtainedAt: 1_000_000 });
  expect(endpoint.form()).not.toHaveProperty("scope");
});

test("a refused token request names the step and the server's answer, with visible and limited text", async () => {
  const description = `\u001b[31mno\u001b[0m ${"x".repeat(5000)}`;
  await using endpoint = await ScriptedTokenEndpoint.start({
    status: 400,
    body: { error: "invalid_scope", error_description: description },
  });

  const error = await failure(clientCredentials(endpoint.request()));
  expect(error).toMatchObject({ code: "AUTH_REQUIRED", details: { status: 400 } });
  expect(error.message).toContain("while requesting a token");
  expect(error.message).toContain("invalid_scope: \\x1b[31mno");
  expect(error.message.length).toBeLessThan(600);
  expect(error.hint).toContain('"scopes"');
});

test.each([
  ["a web page", { status: 502, headers: { "content-type": "text/html" }, body: "<html>" }],
  ["no token", { body: { token_type: "Bearer" } }],
  ["a token of another type", { body: { access_token: "t", token_type: "mac" } }],
  ["a bound token that was not asked for", { body: { access_token: "t", token_type: "DPoP" } }],
])("an answer with %s is refused, and names the step", async (_what, answer) => {
  await using endpoint = await ScriptedTokenEndpoint.start(answer);

  const error = await failure(clientCredentials(endpoint.request()));
  expect(error.message).toContain("while requesting a token");
  expect(endpoint.received).toHaveLength(1);
});

test("members of an answer that are null count as missing, and its media type does not matter", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({
    headers: { "content-type": "text/plain" },
    body: { access_token: "t", token_type: "Bearer", expires_in: null, refresh_token: null, scope: null },
  });

  const tokens = await clientCredentials(endpoint.request());
  expect(tokens).toEqual({ accessToken: "t", type: "Bearer", obtainedAt: 1_000_000 });
});

test("an error with status 200 is a refusal, and its text is in the error", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({
    body: { error: "incorrect_client_credentials", error_description: "The client_id is wrong" },
  });

  const error = await failure(clientCredentials(endpoint.request()));
  expect(error.message).toContain('answered "incorrect_client_credentials: The client_id is wrong"');
});

test("a refusal with a challenge shows what the server says in its answer", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({
    status: 401,
    headers: { "www-authenticate": 'Basic realm="tokens"' },
    body: { error: "invalid_client", error_description: "The client is disabled" },
  });

  const error = await failure(clientCredentials(endpoint.request()));
  expect(error).toMatchObject({ details: { status: 401 } });
  expect(error.message).toContain('answered "invalid_client: The client is disabled"');
});

test("a token request with a key contains a proof, and is repeated once with the nonce that the server asks for", async () => {
  const challenge = { status: 400, headers: { "dpop-nonce": "n1" }, body: { error: "use_dpop_nonce" } };
  await using endpoint = await ScriptedTokenEndpoint.start(challenge, {
    body: { access_token: "bound", token_type: "DPoP" },
  });
  const { pair: proofKey } = await ProofKey.create();

  expect(await clientCredentials(endpoint.request({ proofKey }))).toMatchObject({ type: "DPoP" });
  const proofs = endpoint.received.map(({ headers }) => String(headers["dpop"]));
  expect(proofs.map((proof) => decodeJwt(proof)["nonce"])).toEqual([undefined, "n1"]);
  const { payload } = await jwtVerify(proofs[1] ?? "", EmbeddedJWK, { typ: "dpop+jwt" });
  expect(payload).toMatchObject({ htm: "POST", htu: `${endpoint.issuer}/token` });
});

test("a server that asks for a nonce again and again is not asked a third time", async () => {
  const challenge = { status: 400, headers: { "dpop-nonce": "n1" }, body: { error: "use_dpop_nonce" } };
  await using endpoint = await ScriptedTokenEndpoint.start(challenge, challenge, TOKEN);
  const { pair: proofKey } = await ProofKey.create();

  const error = await failure(clientCredentials(endpoint.request({ proofKey })));
  expect(error.message).toContain("use_dpop_nonce");
  expect(endpoint.received).toHaveLength(2);
});

test("a token request is cancelled by its signal", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);

  expect(await failure(clientCredentials(endpoint.request(), AbortSignal.abort()))).toMatchObject({
    code: "CANCELLED",
  });
});

test.each(["a\r\nX-Injected: 1", "a b", "tök", "", "a\u0000"])(
  "security.md: the token %j, which is not fit for a header, is refused and not shown",
  async (token) => {
    await using endpoint = await ScriptedTokenEndpoint.start({ body: { access_token: token, token_type: "Bearer" } });

    const error = await failure(clientCredentials(endpoint.request()));
    expect(error.message).toContain("while requesting a token");
    expect(error.message).not.toContain("Injected");
  },
);

test("a lifetime that no date can show ends at the last date", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start({
    body: { access_token: "t", token_type: "Bearer", expires_in: 1e300 },
  });

  const { expiresAt = 0 } = await clientCredentials(endpoint.request());
  expect(new Date(expiresAt).toISOString()).toBe("+275760-09-13T00:00:00.000Z");
});

test.each([
  ["status 400", { status: 400 }],
  ["status 200", {}],
])("security.md: an error with %s that repeats the client's secret is masked", async (_what, more) => {
  const secret = "not a real+secret";
  const basic = Buffer.from(`client-1:${new URLSearchParams({ "": secret }).toString().slice(1)}`).toString("base64");
  await using endpoint = await ScriptedTokenEndpoint.start({
    ...more,
    body: { error: "invalid_client", error_description: `not ${secret}, not ${basic}` },
  });
  const client = { clientId: "client-1", clientSecret: secret, by: "configuration" } as const;

  const request = endpoint.request({ client: { ...client, authentication: "client_secret_basic" } });
  const error = await failure(clientCredentials(request));
  expect(endpoint.received[0]?.headers.authorization).toBe(`Basic ${basic}`);
  expect(error.message).toContain("invalid_client: not ");
  expect(error.message).not.toContain(secret);
  expect(error.message).not.toContain(basic);
});
