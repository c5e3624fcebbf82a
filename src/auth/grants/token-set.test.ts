import { expect, test } from "vitest";
import { tokenSetOf } from "./token-set.ts";

const ANSWER = { access_token: "a", token_type: "bearer" as const };

test("the lifetime of a token counts from its request", () => {
  expect(tokenSetOf({ ...ANSWER, expires_in: 60 }, 1_000)).toMatchObject({ obtainedAt: 1_000, expiresAt: 61_000 });
});

test.each([undefined, 0])("a token with the lifetime %s is not renewed before each request", (expires_in) => {
  const answer = expires_in === undefined ? ANSWER : { ...ANSWER, expires_in };
  expect(tokenSetOf(answer, 1_000)).toEqual({ accessToken: "a", type: "Bearer", obtainedAt: 1_000 });
});
