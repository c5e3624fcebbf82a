import { expect, test } from "vitest";
import { explainRefusal, pauseAsked } from "./provider-refusal.ts";

const ENDPOINT = {
  provider: "local",
  type: "openai-compatible",
  baseUrl: "http://127.0.0.1:1/v1",
  apiKey: undefined,
  headers: {},
  keyHint: "Set a key.",
} as const;

test.each([
  [400, `{"error":{"message":"registry/qwen does not support tools"}}`, "SERVER_ERROR", "cannot use tools"],
  [404, `{"error":{"message":"model \\"x\\" not found, try pulling it first"}}`, "NAME_UNKNOWN", "nexus models list"],
  [
    404,
    `{"object":"error","message":"The model \`x\` does not exist.","type":"NotFoundError"}`,
    "NAME_UNKNOWN",
    "list",
  ],
  [404, `<html>nginx</html>`, "HTTP_STATUS", "http://127.0.0.1:1/v1"],
  [401, `{"error":"no key"}`, "AUTH_REQUIRED", "Set a key."],
  [402, ``, "FORBIDDEN", "credit"],
  [429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, "FORBIDDEN", "credit"],
  [301, ``, "REDIRECT_REFUSED", "base URL"],
  [503, `<html>`, "HTTP_STATUS", "later"],
  [400, `{"detail":"something else"}`, "SERVER_ERROR", "settings"],
] as const)("HTTP %i with %s is %s", (status, body, code, hint) => {
  const error = explainRefusal({ status, headers: {}, body, url: "http://127.0.0.1:1/v1/x" }, ENDPOINT, "x");
  expect(error.code).toBe(code);
  expect(error.hint).toContain(hint);
});

test("what looks like a key in the words of a provider is masked", () => {
  const body = JSON.stringify({
    error: { message: "Incorrect API key provided: sk-1234567890abcdefghijklmn\u001b[31m." },
  });
  const { message } = explainRefusal({ status: 401, headers: {}, body, url: "http://127.0.0.1:1/v1/x" }, ENDPOINT, "x");
  expect(message).not.toContain("1234567890");
  expect(message).not.toContain("\u001b");
});

test("the wait that a provider asks for is read from the headers of all providers", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(pauseAsked({ "retry-after-ms": "1500", "retry-after": "9" }, now)).toBe(1500);
  expect(pauseAsked({ "retry-after": "2" }, now)).toBe(2000);
  expect(pauseAsked({ "retry-after": "0.5" }, now)).toBe(500);
  expect(pauseAsked({ "retry-after": "Thu, 01 Jan 2026 00:00:03 GMT" }, now)).toBe(3000);
  expect(pauseAsked({ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m1.5s" }, now)).toBe(61_500);
  const limit = {
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:04Z",
  };
  expect(pauseAsked(limit, now)).toBe(4000);
  expect(pauseAsked({ "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "1m" }, now)).toBeUndefined();
});
