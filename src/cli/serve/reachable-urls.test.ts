import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import { reachableUrls } from "./serve.ts";

function info(address: string, internal = false): NetworkInterfaceInfo {
  const facts = { address, netmask: "", mac: "", internal, cidr: null };
  return address.includes(":") ? { ...facts, family: "IPv6", scopeid: 0 } : { ...facts, family: "IPv4" };
}

const INTERFACES = {
  lo: [info("127.0.0.1", true), info("::1", true)],
  eth0: [info("fe80::1"), info("2001:db8::5"), info("192.0.2.5"), info("169.254.7.7")],
  vpn: [info("198.51.100.7"), info("192.0.2.5")],
};

test.each([
  ["http://0.0.0.0:3210/mcp", ["http://192.0.2.5:3210/mcp", "http://198.51.100.7:3210/mcp"]],
  [
    "http://[::]:3210/mcp",
    ["http://192.0.2.5:3210/mcp", "http://198.51.100.7:3210/mcp", "http://[2001:db8::5]:3210/mcp"],
  ],
])("a gateway at %s is reached at each address of the machine that others can use (R8)", (url, others) => {
  expect(reachableUrls(url, () => INTERFACES)).toEqual({ local: "http://127.0.0.1:3210/mcp", others });
});

test("a gateway that listens on one address is reached there", () => {
  const url = "http://192.0.2.5:3210/mcp";
  expect(reachableUrls(url, () => INTERFACES)).toEqual({ local: url, others: undefined });
});
