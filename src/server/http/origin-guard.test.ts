import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { isLoopback } from "../../text/loopback.ts";
import { OriginGuard } from "./http-listener.ts";

const guard = new OriginGuard({
  address: "127.0.0.1",
  port: 3210,
  allowedHosts: ["Gateway.example", "other.example:8443"],
  allowedOrigins: ["https://console.example"],
});

function problem(headers: IncomingHttpHeaders): string | undefined {
  return guard.problemOf({ headers, rawHeaders: Object.entries(headers).flat().map(String) })?.reason;
}

describe("Host", () => {
  test.each([
    ["192.0.2.2:3210", undefined],
    ["192.0.2.2:8080", undefined],
    ["[2001:db8::1]:3210", undefined],
    ["localhost:3210", undefined],
    ["evil.example:3210", "host"],
    ["192.0.2.2.evil.example", "host"],
    ["", "host"],
  ])("on all addresses of a machine, %s is ours if it is an address", (host, expected) => {
    for (const address of ["0.0.0.0", "::"]) {
      const found = new OriginGuard({ address, port: 3210 }).problemOf({
        headers: { host },
        rawHeaders: ["host", host],
      });
      expect(found?.reason).toBe(expected);
    }
  });

  test("on one address, another address is not ours", () => expect(problem({ host: "192.0.2.2:3210" })).toBe("host"));

  test.each([
    "127.0.0.1:3210",
    "localhost:3210",
    "LOCALHOST:3210",
    "[::1]:3210",
    // Through a forwarded port.
    "127.0.0.1:8080",
    "localhost:3211",
    "127.0.0.1",
    "[::1]:1",
    "gateway.example",
    "gateway.example:99",
  ])("%s is one of ours", (host) => expect(problem({ host })).toBeUndefined());

  test.each([
    "",
    "evil.example",
    "evil.example:3210",
    "localhost.evil.example:3210",
    "127.0.0.1.evil.example",
    "127.evil.example",
    "localhost@evil.example",
    "localhost:3210:80",
    "localhost:",
    "[::1",
    "other.example",
    "other.example:1",
  ])("%j is refused", (host) => expect(problem({ host })).toBe("host"));

  test("Of an address that others reach the usual port may be left out, and no other port stands for it", () => {
    const usual = new OriginGuard({ address: "192.0.2.7", port: 80 });
    const isServed = (host: string) => usual.problemOf({ headers: { host }, rawHeaders: ["Host", host] }) === undefined;
    expect(["192.0.2.7", "192.0.2.7:80"].map(isServed)).toEqual([true, true]);
    expect(["192.0.2.7:81", "192.0.2.7:80:80", "192.0.2.7:"].map(isServed)).toEqual([false, false, false]);
  });

  test("An allowed host that is not one is refused at once", () => {
    const open = () => new OriginGuard({ address: "::1", port: 1, allowedHosts: ["http://a.example"] });
    expect(open).toThrow(`"http://a.example" is not a host name`);
  });

  test("none at all is refused", () => expect(problem({})).toBe("host"));
});

describe("Origin", () => {
  const host = "127.0.0.1:3210";

  test.each(["http://localhost:5173", "http://127.0.0.1", "https://[::1]:1", "https://console.example"])(
    "%s may call",
    (origin) => expect(problem({ host, origin })).toBeUndefined(),
  );

  test.each([
    "null",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://evil.example/localhost",
    "http://localhost@evil.example",
    "http://127.0.0.1.evil.example",
    "file://",
  ])("%s may not", (origin) => expect(problem({ host, origin })).toBe("origin"));
});

test("loopback is what only this machine reaches", () => {
  expect(["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "192.168.0.1", "127.evil.example", "example.com", ""].some(isLoopback)).toBe(false);
});
