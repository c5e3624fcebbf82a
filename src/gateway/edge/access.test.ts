import { describe, expect, test } from "vitest";
import { Access, isLoopback } from "./access.ts";

const access = new Access({
  address: "127.0.0.1",
  port: 3210,
  allowedHosts: ["Gateway.example", "other.example:8443"],
  allowedOrigins: ["https://console.example"],
});

describe("Host", () => {
  test.each([
    "127.0.0.1:3210",
    "localhost:3210",
    "LOCALHOST:3210",
    "[::1]:3210",
    "gateway.example",
    "gateway.example:99",
  ])("%s is one of ours", (host) => expect(access.problem({ host })).toBeUndefined());

  test.each([
    "",
    "evil.example",
    "evil.example:3210",
    "127.0.0.1",
    "localhost:3211",
    "other.example",
    "other.example:1",
  ])("%j is refused", (host) => expect(access.problem({ host })).toMatch(/^Host /));

  test("none at all is refused", () => expect(access.problem({})).toMatch(/^Host ""/));
});

describe("Origin", () => {
  const host = "127.0.0.1:3210";

  test.each(["http://localhost:5173", "http://127.0.0.1", "https://[::1]:1", "https://console.example"])(
    "%s may call",
    (origin) => expect(access.problem({ host, origin })).toBeUndefined(),
  );

  test.each([
    "null",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://evil.example/localhost",
    "http://localhost@evil.example",
    "http://127.0.0.1.evil.example",
    "file://",
  ])("%s may not", (origin) => expect(access.problem({ host, origin })).toMatch(/^Pages of/));
});

test("loopback is what only this machine reaches", () => {
  expect(["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "192.168.0.1", "127.evil.example", "example.com", ""].some(isLoopback)).toBe(false);
});
