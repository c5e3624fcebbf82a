import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { ScriptedTokenEndpoint, TOKEN } from "../../../test/fixtures/auth/scripted-token-endpoint.ts";
import { jwtBearer } from "./jwt-bearer.ts";

test("a workload passes the assertion that its platform issues for the authorization server", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  const assertion = (audience: string) => Promise.resolve(`assertion for ${audience}`);

  const tokens = await jwtBearer(endpoint.request({ settings: { assertion } }));
  expect(tokens).toMatchObject({ accessToken: "token-1", expiresAt: 1_060_000 });
  expect(endpoint.form()).toEqual({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: `assertion for ${endpoint.issuer}`,
    client_id: "client-1",
    resource: "https://mcp.example/mcp",
    scope: "read write",
  });
});

test("a refused assertion is not sent again, and the error says what to check", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(
    { status: 400, body: { error: "invalid_grant", error_description: "expired" } },
    TOKEN,
  );

  const error = await failure(jwtBearer(endpoint.request({ settings: { assertion: "old" } })));
  expect(error.message).toContain(
    'while requesting a token. The authorization server answered "invalid_grant: expired"',
  );
  expect(error.hint).toContain("does not accept the assertion");
  expect(endpoint.received).toHaveLength(1);
});

test("a missing assertion, or one that cannot be obtained, is reported without a request", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start();
  const assertion = () => Promise.reject(new Error("no metadata service"));

  expect(await failure(jwtBearer(endpoint.request()))).toMatchObject({ code: "CONFIG_INVALID" });
  const error = await failure(jwtBearer(endpoint.request({ settings: { assertion } })));
  expect(error).toMatchObject({ code: "AUTH_REQUIRED", message: expect.stringContaining("no metadata service") });
  expect(endpoint.received).toEqual([]);
});
