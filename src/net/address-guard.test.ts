import { expect, test } from "vitest";
import { AddressGuard } from "./address-guard.ts";

const guard = new AddressGuard();

test.each([
  "http://127.0.0.1/",
  "http://10.1.2.3/",
  "http://169.254.169.254/latest/meta-data",
  "http://192.168.0.1/",
  "http://172.31.255.255/",
  "http://100.64.0.1/",
  "http://0.0.0.0/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[fd00::1]/",
  "http://[fe80::1]/",
  "http://[64:ff9b::a00:1]/",
  "file:///etc/passwd",
  "ftp://example.com/",
])("%s is refused (R8)", (url) => {
  expect(() => guard.check(new URL(url))).toThrow(expect.objectContaining({ code: "ADDRESS_REFUSED" }));
});

test("public addresses and allowed hosts pass", () => {
  guard.check(new URL("https://93.184.216.34/"));
  guard.check(new URL("https://[2606:4700::1111]/"));
  new AddressGuard({ allow: ["127.0.0.1"] }).check(new URL("http://127.0.0.1/"));
});

test("a name that resolves to an internal address is refused at its use, in every form of lookup (R8)", async () => {
  for (const all of [true, false]) {
    const error = await new Promise((resolve) => guard.lookup("localhost", { all }, (failure) => resolve(failure)));
    expect(error).toMatchObject({ code: "ADDRESS_REFUSED" });
  }
  const allowing = new AddressGuard({ allow: ["localhost"] });
  const address = await new Promise((resolve) => allowing.lookup("localhost", {}, (_, found) => resolve(found)));
  expect(["127.0.0.1", "::1"]).toContain(address);
});
