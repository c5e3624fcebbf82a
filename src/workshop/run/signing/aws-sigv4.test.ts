import { expect, test } from "vitest";
import { isSignedForAws, signedForAws, type AwsSigning } from "./aws-sigv4.ts";
import type { SignableRequest } from "./signable-request.ts";

/** The published test suite of Signature Version 4. */
const SUITE: AwsSigning = {
  service: "service",
  region: "us-east-1",
  accessKey: "AKIDEXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const SUITE_TIME = Date.UTC(2015, 7, 30, 12, 36, 0);
const HOST = "https://example.amazonaws.com";
const UNRESERVED = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function signatureOf(request: SignableRequest, signing = SUITE, now = SUITE_TIME): string {
  return signedForAws(request, signing, now)["authorization"] ?? "";
}

test.each<[string, Partial<SignableRequest>, string]>([
  ["get-vanilla", {}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  [
    "get-vanilla-query-order-key-case",
    { url: `${HOST}/?Param2=value2&Param1=value1` },
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
  ["get-unreserved", { url: HOST + UNRESERVED }, "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"],
  ["post-vanilla", { method: "POST" }, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "post-x-www-form-urlencoded",
    { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "Param1=value1" },
    "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  ],
])("the signature of the published case %s is the published one", (_, change, expected) => {
  const request = { method: "GET", url: `${HOST}/`, headers: {}, ...change };
  expect(signatureOf(request)).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/us-east-1\/service\/aws4_request, SignedHeaders=.*host;x-amz-date, /,
  );
  expect(signatureOf(request)).toContain(`Signature=${expected}`);
});

/** The examples in the documentation of Amazon S3. */
const S3: AwsSigning = {
  service: "s3",
  region: "us-east-1",
  accessKey: "AKIAIOSFODNN7EXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const BUCKET = "https://examplebucket.s3.amazonaws.com";

test.each<[string, string, Record<string, string>, string]>([
  [
    "a part of an object",
    "/test.txt",
    { Range: "bytes=0-9" },
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "a parameter without a value",
    "/?lifecycle",
    {},
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  ["a list", "/?max-keys=2&prefix=J", {}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
])("the signature of the documented request to S3 for %s is the documented one", (_, path, headers, expected) => {
  const request = { method: "GET", url: BUCKET + path, headers };
  expect(signatureOf(request, S3, Date.UTC(2013, 4, 24))).toContain(`Signature=${expected}`);
});

test("a session token is sent and signed", () => {
  const signing = { ...SUITE, sessionToken: "a-session-token" };
  const headers = signedForAws({ method: "GET", url: `${HOST}/`, headers: {} }, signing, SUITE_TIME);
  expect(headers["x-amz-security-token"]).toBe("a-session-token");
  expect(headers["authorization"]).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token");
});

test("a signature is accepted for its own request only", () => {
  const request = { method: "POST", url: `${HOST}/a%20b?x=1&y=%2F`, headers: { "x-tenant": "a  b" }, body: "{}" };
  const signed = { ...request, headers: signedForAws(request, SUITE, SUITE_TIME) };
  expect(isSignedForAws(signed, SUITE)).toBe(true);
  expect(isSignedForAws({ ...signed, body: "{ }" }, SUITE)).toBe(false);
  expect(isSignedForAws({ ...signed, method: "PUT" }, SUITE)).toBe(false);
  expect(isSignedForAws({ ...signed, url: `${HOST}/a%20b?x=2&y=%2F` }, SUITE)).toBe(false);
  expect(isSignedForAws({ ...signed, headers: { ...signed.headers, "x-tenant": "c" } }, SUITE)).toBe(false);
  expect(isSignedForAws(signed, { ...SUITE, secretKey: "another" })).toBe(false);
  expect(isSignedForAws(request, SUITE)).toBe(false);
});
