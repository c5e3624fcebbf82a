import { createHash } from "node:crypto";
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { ProofKey } from "./proof-key.ts";

const REQUEST = { method: "POST", url: "https://mcp.example/mcp?page=2#top" };

test("A DPoP proof names the method, the address without query, the token and the public key, and each is new", async () => {
  const key = await ProofKey.create();
  const [proof, next] = await Promise.all([key.sign(REQUEST, "token"), key.sign(REQUEST, "token")]);

  const { payload } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt", algorithms: ["ES256"] });
  expect(payload).toEqual({
    htm: "POST",
    htu: "https://mcp.example/mcp",
    ath: createHash("sha256").update("token").digest("base64url"),
    jti: expect.any(String),
    iat: expect.any(Number),
  });
  expect(decodeProtectedHeader(proof).jwk).not.toHaveProperty("d");
  expect(decodeJwt(next).jti).not.toBe(payload.jti);
});

test("A DPoP key is the same after it was exported and imported", async () => {
  const key = await ProofKey.create();
  const again = await ProofKey.import(JSON.parse(JSON.stringify(await key.export())) as Record<string, unknown>);

  const header = decodeProtectedHeader(await key.sign(REQUEST, "token"));
  const proof = await again.sign(REQUEST, "token");
  await jwtVerify(proof, EmbeddedJWK);
  expect(await thumbprint(decodeProtectedHeader(proof))).toBe(await thumbprint(header));
  expect(await again.export()).toEqual(await key.export());
});

test.each([{}, { kty: "oct", k: "AAAA" }, { kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }])(
  "A stored DPoP key that is damaged is reported: %j",
  async (jwk) => {
    await expect(ProofKey.import(jwk)).rejects.toMatchObject({ code: "DATA_DAMAGED" });
  },
);

test("A nonce of a server is in the proofs for its origin and in no other", async () => {
  const key = await ProofKey.create();
  key.rememberNonce({ request: REQUEST, headers: { "dpop-nonce": "n1" }, sent: {} });

  expect(decodeJwt(await key.sign(REQUEST, "token"))).toHaveProperty("nonce", "n1");
  const elsewhere = { method: "POST", url: "https://other.example/mcp" };
  expect(decodeJwt(await key.sign(elsewhere, "token"))).not.toHaveProperty("nonce");
});

test("All requests that were refused for a missing nonce are sent again, but none that had this nonce", async () => {
  const key = await ProofKey.create();
  const refuse = (dpop: string, headers: Record<string, string> = { "dpop-nonce": "n1" }) =>
    key.rememberNonce({ request: REQUEST, headers, sent: { dpop } });
  const [first, second] = await Promise.all([key.sign(REQUEST, "token"), key.sign(REQUEST, "token")]);

  expect([refuse(first), refuse(second)]).toEqual([true, true]);
  expect(refuse(await key.sign(REQUEST, "token"))).toBe(false);
  expect(refuse(first, {})).toBe(false);
});

function thumbprint({ jwk }: ReturnType<typeof decodeProtectedHeader>): Promise<string> {
  return calculateJwkThumbprint(jwk ?? {});
}
