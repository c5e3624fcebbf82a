import { expect, test } from "vitest";
import { NexusError } from "../errors/nexus-error.ts";
import { AddressGuard } from "./address-guard.ts";
import { publicOnlyWith, strictest } from "./public-only.ts";

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
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.1/",
  "http://127.0.0.1./",
  "http://%31%32%37.0.0.1/",
  "http://①②⑦.⓪.⓪.①/",
  "http://127。0。0。1/",
  "http://0251.0376.0251.0376/",
  "http://0/",
  "http://[::]/",
  "http://[::FFFF:169.254.169.254]/",
  "http://[0:0:0:0:0:ffff:10.0.0.1]/",
  "http://[64:ff9b::169.254.169.254]/",
  "http://[64:ff9b:1:ffff::10.0.0.1]/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[fd00::1]/",
  "http://[fe80::1]/",
  "http://[64:ff9b::a00:1]/",
  "http://[64:ff9b:1::a00:1]/",
  // IPv4-translated and IPv4-compatible addresses, 6to4 and Teredo reach IPv4 addresses.
  "http://[::ffff:0:127.0.0.1]/",
  "http://[::ffff:0:a9fe:a9fe]/",
  "http://[::127.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001:0:a00:1::]/",
  // Documentation, segment routing, discard and ranges that are not assigned.
  "http://[3fff::1]/",
  "http://[5f00::1]/",
  "http://[100::1]/",
  "http://[100:0:0:1::1]/",
  "http://[4000::1]/",
  "http://[e000::1]/",
  "http://[2001:db8::1]/",
  "http://[2001:20::1]/",
  "http://[2620:4f:8000::1]/",
  "http://192.31.196.1/",
  "http://192.52.193.1/",
  "http://192.175.48.1/",
  "http://168.63.129.16/machine",
  "http://255.255.255.255/",
  "file:///etc/passwd",
  "ftp://example.com/",
])("%s is refused (R8)", (url) => {
  expect(() => guard.check(new URL(url))).toThrow(expect.objectContaining({ code: "ADDRESS_REFUSED" }));
});

test("public addresses and allowed hosts pass", () => {
  guard.check(new URL("https://93.184.216.34/"));
  guard.check(new URL("https://[2606:4700::1111]/"));
  guard.check(new URL("https://[::ffff:93.184.216.34]/"));
  guard.check(new URL("https://[3ffe::1]/"));
  new AddressGuard({ allow: ["127.0.0.1"] }).check(new URL("http://127.0.0.1/"));
});

test.each([
  "fe80::1%lo",
  "::1%lo",
  "::ffff:10.0.0.1",
  "::ffff:10.0.0.1%eth0",
  "0:0:0:0:0:ffff:7f00:1",
  "0:0:0:0:ffff:0:7f00:1",
  "64:FF9B::A00:1",
  // What is no address at all is not compared with any range.
  "127.0.0.1%lo",
  "0177.0.0.1",
  "",
])("a name that resolves to %s is refused however the address is written (R8)", (address) =>
  expect(guard.permits("example.com", address)).toBe(false),
);

test("where private networks are allowed, services of clouds for their machines are not", () => {
  const allowing = new AddressGuard({ allowsPrivate: true });
  for (const address of ["fd12::1", "10.0.0.1", "::ffff:10.0.0.1"]) expect(allowing.permits("a", address)).toBe(true);
  for (const address of [
    "fd00:ec2::23",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "::ffff:100.100.100.200",
  ]) {
    expect(allowing.permits("a", address), address).toBe(false);
  }
});

test("a refusal says where the host is allowed, or who can allow it (R8)", () => {
  const hintOf = (options: object) => {
    try {
      new AddressGuard(options).check(new URL("http://10.0.0.5/mcp"));
    } catch (error) {
      return error instanceof NexusError ? error.hint : undefined;
    }
    return undefined;
  };
  expect(hintOf({})).toMatch(/\{ "allow": \["10\.0\.0\.5"\] \} as "public_only".*"network".*option publicOnly/);
  const rule = strictest(true, publicOnlyWith("Ask the operator."), { allow: ["10.0.0.5"] });
  expect(hintOf(typeof rule === "object" ? rule : {})).toBe("Ask the operator.");
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
