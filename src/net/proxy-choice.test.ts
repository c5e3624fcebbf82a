import { expect, test } from "vitest";
import { proxyFor } from "./proxy-choice.ts";

test("the proxy of an error report is the one that was used, without its password (P1.9)", () => {
  const proxy = { httpProxy: "ann:secret@proxy.example:3128", httpsProxy: "https://secure.example:8443/" };
  expect(proxyFor("http://a.example", proxy)).toBe("http://proxy.example:3128");
  expect(proxyFor("https://a.example", proxy)).toBe("https://secure.example:8443");
  expect(proxyFor("https://a.example", { httpProxy: "proxy:1" })).toBe("http://proxy:1");
  expect(proxyFor("http://a.example", { httpsProxy: "proxy:1" })).toBeUndefined();
  expect(proxyFor("http://a.example", {})).toBeUndefined();
});

test.each(["*", "a.example", ".example", "*.example", "other, a.example:80"])(
  "an address that NO_PROXY exempts has no proxy: %s (P1.9)",
  (noProxy) => {
    expect(proxyFor("http://a.example", { httpProxy: "proxy:1", noProxy })).toBeUndefined();
  },
);

test.each(["b.example", "a.example:81", "ample"])(
  "an address that NO_PROXY does not name has one: %s (P1.9)",
  (noProxy) => {
    expect(proxyFor("http://a.example", { httpProxy: "proxy:1", noProxy })).toBe("http://proxy:1");
  },
);
