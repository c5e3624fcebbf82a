import fc from "fast-check";
import { expect, test } from "vitest";
import { examples } from "../../test/fixtures/depth.ts";
import { AllowedPrefixes, allowedUrl } from "./allowed-url.ts";

const allow = ["https://api.example/v1/", "https://api.example:8443/exact"];

test.each([
  "https://api.example/v1/",
  "https://api.example/v1/rooms?user=a&password=b%2Fc",
  "https://api.example:443/v1/rooms",
  "https://API.example/v1/a.b/..c",
  "HTTPS://api.example/v1/a;b//c?../;",
  "https://api.example:8443/exact",
  "https://api.example:8443/exact?x",
  "https://api.example:8443/exact/more",
])("%s is allowed (X8)", (url) => {
  expect(allowedUrl(url, allow).href).toContain("https://api.example");
});

test.each([
  "https://api.example/",
  "https://api.example/v1",
  "https://api.example/v10/rooms",
  "https://api.example/V1/rooms",
  "https://api.example:8443/exactly",
  "https://api.example:444/v1/rooms",
  "http://api.example/v1/rooms",
  "https://api.example.evil.example/v1/rooms",
  "https://evil.example/https://api.example/v1/",
  "https://api.example@evil.example/v1/",
  "https://user:secret-word@api.example/v1/rooms",
  "https://@api.example/v1/rooms",
  "https:user:secret-word@api.example/v1/rooms",
  "https:/user:secret-word@api.example/v1/rooms",
  "https:///user:secret-word@api.example/v1/rooms",
  "https:api.example/v1/rooms",
  "https:/api.example/v1/rooms",
  "https:////api.example/v1/rooms",
  "https://api.example./v1/rooms",
  "https://api.example//v1/rooms",
  "https://api.example?/v1/rooms",
  "https://api.example/v1/../admin",
  "https://api.example/v1/..",
  "https://api.example/v1/%2e%2e/admin",
  "https://api.example/v1/.%2E/v1/rooms",
  "https://api.example/v1/./rooms",
  "https://api.example/v1/..;/admin",
  "https://api.example/v1/%2e.;x=y/admin",
  "https://api.example/v1/..%3Badmin",
  "https://api.example/v1/..%2fadmin",
  "https://api.example/v1/a%5Cb",
  "https://api.example/v1\\..\\admin",
  "https://api.example\\@evil.example/v1/",
  "https://api.example/v1/ro\noms",
  " https://api.example/v1/rooms",
  "https://api.example/v1/rooms#x",
  "https://api.example/v1/rooms#",
  "https://api.example#/v1/rooms",
  "https://api.example/v1/rooms%00",
  "file:///v1/",
  "data:text/plain,x",
  "rooms",
  "",
])("%j is refused (X8, R8)", (url) => {
  expect(() => allowedUrl(url, allow)).toThrow(expect.objectContaining({ code: "ADDRESS_REFUSED" }));
  expect(() => new AllowedPrefixes(allow).get(url)).toThrow(expect.objectContaining({ code: "ADDRESS_REFUSED" }));
});

test("the error for a refused URL contains neither query nor password", () => {
  for (const url of [
    "https://evil.example/?password=secret-word",
    "https://u:secret-word@api.example/v1/",
    "https://api.example/v1/ ?a=secret-word",
  ]) {
    expect(() => allowedUrl(url, allow)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("secret-word") }),
    );
  }
});

test("a prefix compared as text allows the same URLs as a parsed prefix (X8)", () => {
  const hosts = [
    "https://api.example",
    "https://API.example",
    "http://api.example",
    "http://127.1",
    "http://127.0.0.1",
  ];
  const ports = ["", ":443", ":8443"];
  const paths = ["/", "/v1", "/v1/", "/v1/x", "/v10/", "/V1/", "//v1/", "/v1//", "/v%31/"];
  const all = hosts.flatMap((host) => ports.flatMap((port) => paths.map((path) => host + port + path)));
  const isAllowed = (url: string, prefix: string): boolean => {
    try {
      return allowedUrl(url, [prefix]) instanceof URL;
    } catch {
      return false;
    }
  };
  let allowed = 0;
  for (const prefix of all) {
    for (const url of all) {
      const isSo = isAllowed(url, prefix);
      if (isSo) allowed += 1;
      // A query means nothing in a prefix, but with it nothing is compared as text.
      if (isSo !== isAllowed(url, `${prefix}?`)) expect.fail(`${url} and ${prefix}`);
    }
  }
  expect(allowed).toBeGreaterThan(500);
});

test("an address that is not parsed has the same parts as a parsed one, and the same are refused (X8)", () => {
  const part = fc.constantFrom(...Array.from("a.%/?&=+;@#\\: ~-_"), "..", "%2f", "%2e", "//", "ö", "?a=b", "v1/");
  const prefix = fc.constantFrom(
    "https://api.example/v1/",
    "http://127.1/",
    "https://API.example/",
    "http://h:80/",
    "http://h/",
  );
  fc.assert(
    fc.property(prefix, fc.array(part, { maxLength: 6 }), (allowed, parts) => {
      const text = allowed + parts.join("");
      const attempt = <T>(get: () => T) => {
        try {
          return get();
        } catch {
          return undefined;
        }
      };
      const url = attempt(() => allowedUrl(text, [allowed]));
      const found = attempt(() => new AllowedPrefixes([allowed]).get(text));
      expect(found && [found.origin, found.path, found.shown, found.host.protocol, found.host.hostname]).toEqual(
        url && [url.origin, url.pathname + url.search, url.origin + url.pathname, url.protocol, url.hostname],
      );
    }),
    { numRuns: examples(2_000) },
  );
});
