import { generateKeyPairSync } from "node:crypto";
import { decodeProtectedHeader, importSPKI, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { failure } from "../../../test/fixtures/failure.ts";
import { ScriptedTokenEndpoint, TOKEN } from "../../../test/fixtures/auth/scripted-token-endpoint.ts";
import { clientCredentials } from "./client-credentials.ts";

const secret = { clientId: "client-1.a_b", clientSecret: "s e:c/r-t", by: "configuration" } as const;

test("client_secret_basic sends id and secret in the header, encoded as a form, and not in the body", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  await clientCredentials(endpoint.request({ client: { ...secret, authentication: "client_secret_basic" } }));

  const [scheme, encoded = ""] = endpoint.received[0]?.headers.authorization?.split(" ") ?? [];
  expect([scheme, atob(encoded)]).toEqual(["Basic", "client-1.a_b:s+e%3Ac%2Fr-t"]);
  expect(endpoint.form()).not.toHaveProperty("client_secret");
});

test("client_secret_post sends id and secret in the body only", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  await clientCredentials(endpoint.request({ client: { ...secret, authentication: "client_secret_post" } }));

  expect(endpoint.received[0]?.headers.authorization).toBeUndefined();
  expect(endpoint.form()).toMatchObject({ client_id: secret.clientId, client_secret: secret.clientSecret });
});

test.each([
  ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" }), undefined],
  ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 }), undefined],
  ["PS256", generateKeyPairSync("rsa", { modulusLength: 2048 }), "PS256"],
  ["EdDSA", generateKeyPairSync("ed25519"), undefined],
])("private_key_jwt signs an assertion for the issuer with %s", async (algorithm, pair, signingAlgorithm) => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await clientCredentials(
    endpoint.request({
      client: { clientId: "client-1", by: "configuration", authentication: "private_key_jwt" },
      // As in an environment variable of one line.
      settings: { privateKey: privateKey.replaceAll("\n", "\\n"), signingAlgorithm, keyId: "key-1" },
    }),
  );

  const { client_assertion: assertion = "", client_assertion_type: type } = endpoint.form();
  const key = await importSPKI(pair.publicKey.export({ type: "spki", format: "pem" }).toString(), algorithm);
  const expected = { issuer: "client-1", subject: "client-1", audience: endpoint.issuer, algorithms: [algorithm] };
  await jwtVerify(assertion, key, expected);
  expect(decodeProtectedHeader(assertion).kid).toBe("key-1");
  expect(type).toBe("urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
});

test.each([
  ["is missing", {}],
  ["is not a readable PEM", { privateKey: "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----" }],
  [
    "cannot be used with the algorithm RS256",
    {
      privateKey: generateKeyPairSync("ec", { namedCurve: "P-256" })
        .privateKey.export({ type: "pkcs8", format: "pem" })
        .toString(),
      signingAlgorithm: "RS256",
    },
  ],
])("a private key that %s is an error of the configuration that does not show the key", async (problem, settings) => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  const client = { clientId: "client-1", by: "configuration", authentication: "private_key_jwt" } as const;
  const error = await failure(clientCredentials(endpoint.request({ client, settings })));

  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining(problem) });
  if ("privateKey" in settings)
    expect(error.message + JSON.stringify(error)).not.toContain(settings.privateKey.split("\n")[1]);
  expect(endpoint.received).toEqual([]);
});

test("a client that authenticates with a secret but has none is an error of the configuration", async () => {
  await using endpoint = await ScriptedTokenEndpoint.start(TOKEN);
  const client = { clientId: "client-1", by: "configuration", authentication: "client_secret_basic" } as const;

  const error = await failure(clientCredentials(endpoint.request({ client })));
  expect(error).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining('"client-1"') });
});
