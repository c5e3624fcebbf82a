import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { HmacSignerSpec } from "../../file/model/tool-file.ts";
import { isSignedWithHmac, momentAt, signedWithHmac } from "./built-in-signer.ts";

const SPEC: HmacSignerSpec = {
  kind: "hmac",
  algorithm: "sha256",
  key: "key",
  text: "{body}",
  encoding: "hex",
  headers: { "X-Signature": "{signature}" },
};
const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);

/** RFC 4231, test case 2, and RFC 2202, test case 2. */
test.each<[HmacSignerSpec["algorithm"], HmacSignerSpec["encoding"], string]>([
  ["sha256", "hex", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ["sha256", "base64", "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM="],
  ["sha1", "hex", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"],
  [
    "sha512",
    "hex",
    "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
  ],
])("an HMAC with %s as %s is that of the RFC", (algorithm, encoding, expected) => {
  const request = { method: "POST", url: "https://api.example/", headers: {}, body: "what do ya want for nothing?" };
  const headers = signedWithHmac(
    request,
    { ...SPEC, algorithm, encoding },
    { key: "Jefe", settings: {} },
    momentAt(NOW, "n"),
  );
  expect(headers).toEqual({ "x-signature": expected });
});

const FULL: HmacSignerSpec = {
  ...SPEC,
  id: "key-id",
  text: "{method}\n{host}{path}?{query}\n{timestamp}:{nonce}\n{bodyHash}\n{settings.shop}",
  headers: { Authorization: "HMAC {id}:{nonce}:{signature}", "X-Time": "{timestamp}" },
};
const SIGNING = { key: "a-key", id: "me", settings: { shop: "7" } };
const REQUEST = { method: "PUT", url: "https://api.example/v1/a%20b?x=1", headers: { accept: "*/*" }, body: "{}" };

test("the text that is signed and the headers are made of the request, the time and the settings", () => {
  const headers = signedWithHmac(REQUEST, FULL, SIGNING, momentAt(NOW, "once"));
  expect(headers).toMatchObject({ accept: "*/*", "x-time": "1794830400" });
  expect(headers["authorization"]).toMatch(/^HMAC me:once:[0-9a-f]{64}$/);
});

test("an HMAC is accepted for its own request and key only", () => {
  const signed = { ...REQUEST, headers: signedWithHmac(REQUEST, FULL, SIGNING, momentAt(NOW, "once")) };
  expect(isSignedWithHmac(signed, FULL, SIGNING)).toBe(true);
  expect(isSignedWithHmac({ ...signed, body: "" }, FULL, SIGNING)).toBe(false);
  expect(isSignedWithHmac({ ...signed, url: "https://api.example/v1/c?x=1" }, FULL, SIGNING)).toBe(false);
  expect(isSignedWithHmac(signed, FULL, { ...SIGNING, key: "another" })).toBe(false);
  expect(isSignedWithHmac(signed, FULL, { ...SIGNING, id: "you" })).toBe(false);
  expect(isSignedWithHmac({ ...signed, headers: { ...signed.headers, "x-time": "1" } }, FULL, SIGNING)).toBe(false);
  expect(isSignedWithHmac(REQUEST, FULL, SIGNING)).toBe(false);
});

test("the bytes of a body that is not text are signed as they are sent", () => {
  const body = Uint8Array.of(0xff, 0x00, 0x80, 0x41);
  const request = { method: "PUT", url: "https://api.example/", headers: {}, body };
  const spec = { ...SPEC, text: "{method}:{body}" };
  const { "x-signature": signature } = signedWithHmac(request, spec, { key: "Jefe", settings: {} }, momentAt(NOW, "n"));
  const expected = createHmac("sha256", "Jefe").update("PUT:").update(body).digest("hex");
  expect(signature).toBe(expected);
});
