import { expect, test } from "vitest";
import type { StdioReach } from "../../transport/server-entry.ts";
import { markOf, VIA_VARIABLE } from "../../transport/via-marks.ts";
import { GatewayChain } from "./gateway-chain.ts";

const reach = (change: Partial<StdioReach> = {}): StdioReach => ({
  kind: "stdio",
  command: "nexus",
  args: ["serve", "--stdio"],
  cwd: undefined,
  env: {},
  passthrough: [],
  ...change,
});

test("servers get the list of gateways that a host works for, and calls that come back are refused", () => {
  const inner = new GatewayChain({ [VIA_VARIABLE]: "aaaaaaaaaaaa =bbbbbbbbbbbb" });
  const own = inner.gateways().at(-1);
  expect(inner.gateways()).toEqual(["aaaaaaaaaaaa", own]);
  expect(inner.admit(undefined)).toBe(true);
  expect(inner.admit("cccccccccccc, dddddddddddd")).toBe(true);
  expect(inner.gateways()).toEqual(["aaaaaaaaaaaa", "cccccccccccc", "dddddddddddd", own]);
  expect(inner.gateways()).toBe(inner.gateways());
  expect(inner.admit(`cccccccccccc, ${own}`)).toBe(false);
});

test("invalid ids are ignored, and the number of remembered callers is limited", () => {
  const chain = new GatewayChain({ [VIA_VARIABLE]: "hello, '; rm =x" });
  const id = (count: number) => count.toString(16).padStart(12, "0");
  expect(chain.admit("hello\tworld,,")).toBe(true);
  expect(chain.gateways()).toHaveLength(1);
  for (let count = 0; count < 100; count++) expect(chain.admit(id(count))).toBe(true);
  expect(chain.gateways()).toHaveLength(33);
  expect(chain.gateways()).toContain(id(99));
});

test("an entry is recognised by what it starts and by its configuration folders, not by secrets", () => {
  const entry = reach({ env: { TOKEN: "1", XDG_CONFIG_HOME: "/a" } });
  const inside = new GatewayChain(markOf(entry, {}, []));
  expect(inside.isStartedBy(reach({ env: { TOKEN: "2", XDG_CONFIG_HOME: "/a" } }))).toBe(true);
  for (const other of [
    reach({ env: { XDG_CONFIG_HOME: "/b" } }),
    reach({ env: entry.env, cwd: "/c" }),
    reach({ env: entry.env, args: ["serve", "--stdio", "--config", "other.json"] }),
  ]) {
    expect(inside.isStartedBy(other)).toBe(false);
  }
});

test("a server that was started by an entry does not start it again; sixteen nested starts are the limit", () => {
  let variables: Record<string, string> = {};
  for (let count = 0; count < 16; count++) variables = markOf(reach({ cwd: `/${count}` }), variables, ["aaaaaaaaaaaa"]);
  expect(() => markOf(reach({ cwd: "/0" }), variables, ["bbbbbbbbbbbb"])).toThrow(/would start itself again/);
  expect(() => markOf(reach(), variables, [])).toThrow("16 servers have started each other in a chain");
});

test("a command inside a server may use that server, but not endlessly", () => {
  let variables: Record<string, string> = {};
  for (let count = 0; count < 16; count++) variables = markOf(reach(), variables, []);
  expect(() => markOf(reach(), variables, [])).toThrow("16 servers have started each other in a chain");
});
