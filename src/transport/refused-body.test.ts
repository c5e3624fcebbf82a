import { expect, test } from "vitest";
import { wordsOfBody } from "./refused-body.ts";

test("the message of an HTTP error is found at the usual places of APIs", () => {
  const wordsOf = (body: unknown) => wordsOfBody(JSON.stringify(body));
  expect(wordsOf({ error: "invalid_token", error_description: "The token expired" })).toBe("The token expired");
  expect(wordsOf({ errors: [{ code: 7, message: "No such room" }] })).toBe("No such room");
  expect(wordsOf({ type: "about:blank", title: "Forbidden", detail: "Not your tenant" })).toBe("Not your tenant");
  expect(wordsOfBody("upstream  is\ndown")).toBe("upstream is down");
  expect(wordsOfBody("<html><title>502</title></html>")).toBeUndefined();
});

test("an endlessly nested body is shown shortened", () => {
  const depth = 100_000;
  const body = `${'{"error":'.repeat(depth)}"deep"${"}".repeat(depth)}`;
  expect(wordsOfBody(body)?.slice(0, 18)).toBe('{"error":{"error":');
});

test("text that looks like a credential is masked, with any name", () => {
  expect(wordsOfBody('{"message":"rejected access_key=AKEXAMPLE00 for you"}')).toBe("rejected access_key=••• for you");
});
