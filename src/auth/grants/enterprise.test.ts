import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { ScriptedTokenEndpoint, TOKEN } from "../../../test/fixtures/auth/scripted-token-endpoint.ts";
import { enterprise } from "./enterprise.ts";

const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const ASSERTION = { body: { access_token: "id-jag", issued_token_type: ID_JAG, token_type: "N_A" } };

test("the identity provider exchanges the ID token for an assertion, and the authorization server takes that", async () => {
  await using provider = await ScriptedTokenEndpoint.start(ASSERTION);
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);

  const tokens = await enterprise(endpoint.request({ settings: { identityProvider: providerAt(provider) } }));
  expect(tokens).toMatchObject({ accessToken: "token-1", type: "Bearer" });
  expect(provider.form()).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: ID_JAG,
    subject_token: "id-token",
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    audience: endpoint.issuer,
    resource: "https://mcp.example/mcp",
    scope: "read write",
    client_id: "idp-client",
  });
  expect(endpoint.form()).toMatchObject({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: "id-jag",
    client_id: "client-1",
    resource: "https://mcp.example/mcp",
  });
});

test("the token endpoint of the identity provider is in its metadata, and its client may have a secret", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  const metadata = { body: { issuer: "", token_endpoint: "" } };
  await using provider = await ScriptedTokenEndpoint.start(metadata, ASSERTION);
  Object.assign(metadata.body, { issuer: provider.issuer, token_endpoint: `${provider.issuer}/exchange` });
  const identityProvider = {
    issuer: provider.issuer,
    clientId: "idp-client",
    clientSecret: "secret",
    idToken: () => Promise.resolve("fetched"),
  };

  await enterprise(endpoint.request({ settings: { identityProvider } }));
  expect(provider.received[1]).toMatchObject({
    path: "/exchange",
    form: { subject_token: "fetched" },
    headers: { authorization: `Basic ${btoa("idp-client:secret")}` },
  });
});

test("a refusal of the identity provider names its step, and the authorization server is not asked", async () => {
  await using provider = await ScriptedTokenEndpoint.start({
    status: 400,
    body: { error: "invalid_grant", error_description: "Invalid ID token" },
  });
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);

  const settings = { identityProvider: providerAt(provider) };
  const error = await failure(enterprise(endpoint.request({ settings })));
  expect(error.message).toContain("while exchanging the ID token at the identity provider");
  expect(error.message).toContain("invalid_grant: Invalid ID token");
  expect(error.hint).toContain("identity provider");
  expect(endpoint.received).toEqual([]);
});

test("an answer of the identity provider with another type of token is not passed on", async () => {
  await using provider = await ScriptedTokenEndpoint.start({
    body: { ...ASSERTION.body, issued_token_type: "urn:ietf:params:oauth:token-type:access_token" },
  });
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);

  const settings = { identityProvider: providerAt(provider) };
  expect(await failure(enterprise(endpoint.request({ settings })))).toMatchObject({ code: "PROTOCOL_VIOLATION" });
  expect(endpoint.received).toEqual([]);
});

test("the enterprise grant without a usable identity provider, or without an ID token, is reported", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start();
  const idToken = () => Promise.reject(new Error("not logged in"));
  const identityProvider = { ...providerAt(endpoint), idToken };

  expect(await failure(enterprise(endpoint.request()))).toMatchObject({ code: "CONFIG_INVALID" });
  const wrong = { ...providerAt(endpoint), tokenEndpoint: "idp.example/token" };
  const settings = { identityProvider: wrong };
  expect(await failure(enterprise(endpoint.request({ settings })))).toMatchObject({ code: "CONFIG_INVALID" });
  const error = await failure(enterprise(endpoint.request({ settings: { identityProvider } })));
  expect(error).toMatchObject({ code: "AUTH_REQUIRED", message: expect.stringContaining("not logged in") });
});

function providerAt({ issuer }: ScriptedTokenEndpoint) {
  return { issuer, tokenEndpoint: `${issuer}/token`, clientId: "idp-client", idToken: "id-token" };
}
