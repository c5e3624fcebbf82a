import { expect, test } from "vitest";
import { SILENT } from "../../text/logger.ts";
import type { Own } from "../names/names.ts";
import { CompiledSet } from "./compiled-set.ts";

const set = new CompiledSet(
  "desk",
  {
    allow: ["hub", "box.look"],
    readOnly: true,
    tools: {
      "hub.search": { name: "find" },
      "hub.issue": { arguments: { repo: "acme" } },
      "box.look": { name: "look", description: "Looks" },
    },
    prompts: { "hub.greet": { name: "find" } },
  },
  SILENT,
);

/** Names that begin with the id of a server. */
const full = (given: string): Own | undefined => {
  const [, server, own] = /^(hub|box)__(.+)$/.exec(given) ?? [];
  return server === undefined || own === undefined ? undefined : { server, own };
};

test("a name of the set stands for one thing, and that thing has no other name", () => {
  const resolved = (kind: "tool" | "prompt", given: string) => {
    const own = set.resolve(kind, given, full);
    return own && `${own.server}.${own.own}`;
  };
  expect(resolved("tool", "find")).toBe("hub.search");
  expect(resolved("prompt", "find")).toBe("hub.greet");
  expect(resolved("tool", "hub__search")).toBeUndefined();
  expect(resolved("tool", "hub__issue")).toBe("hub.issue");
  expect(resolved("prompt", "hub__search")).toBe("hub.search");
  expect(resolved("tool", "search")).toBeUndefined();
});

test("a server's tool that is called like a name of the set keeps its full name", () => {
  const item = { name: "find", inputSchema: { type: "object" } };
  const outward = { ...item, name: "hub__find" };
  expect(set.show("tools", "hub", { item, outward })).toBe(outward);
  expect(set.resolve("tool", "hub__find", full)).toEqual({ server: "hub", own: "find" });
});

test("a changed item is made once for each definition that the server sends", () => {
  const item = { name: "look", description: "Peeks", inputSchema: { type: "object" } };
  const outward = { ...item, name: "box__look" };
  const shown = set.show("tools", "box", { item, outward });
  expect(shown).toEqual({ ...item, name: "look", description: "Looks" });
  expect(set.show("tools", "box", { item, outward })).toBe(shown);
  expect(outward.name).toBe("box__look");
});

test("what the set contains is decided by its patterns, its flag and whether its fixed arguments can be hidden", () => {
  const annotations = { readOnlyHint: true };
  const issue = (inputSchema: object) =>
    ({ kind: "tool", server: "hub", name: "issue", annotations, inputSchema }) as const;
  const properties = { repo: { type: "string" } };
  expect(set.decide(issue({ properties })).kind).toBe("allowed");
  expect(set.decide(issue({ properties, anyOf: [{ required: ["repo"] }] })).kind).toBe("denied");
  expect(set.decide({ ...issue({ properties }), annotations: undefined }).kind).toBe("denied");
  expect(set.decide({ kind: "tool", server: "box", name: "open", annotations }).kind).toBe("denied");
  expect(set.decide({ kind: "server", server: "box", name: "box" }).kind).toBe("allowed");
  expect(set.decide({ kind: "server", server: "chest", name: "chest" }).kind).toBe("denied");
});

test("two tools with the same schema object each lose their own fixed arguments", () => {
  const shared = { type: "object", properties: { from: {}, to: {} } };
  const tools = { "hub.pull": { arguments: { from: "acme" } }, "hub.push": { arguments: { to: "acme" } } };
  const both = new CompiledSet("both", { allow: ["hub"], tools }, SILENT);
  const argumentsOf = (name: string) => {
    const item = { name, inputSchema: shared };
    const shown = both.show("tools", "hub", { item, outward: { ...item, name: `hub__${name}` } });
    return Object.keys((shown["inputSchema"] as typeof shared).properties);
  };
  expect([argumentsOf("pull"), argumentsOf("push")]).toEqual([["to"], ["from"]]);
});

test("a fixed argument that the tool does not list is in the log once, because its name may be mistyped", () => {
  const warnings: string[] = [];
  const logger = { ...SILENT, warn: (message: string) => void warnings.push(message) };
  const tools = { "hub.issue": { arguments: { rpeo: "acme", title: "x" } } };
  const mistyped = new CompiledSet("desk", { allow: ["hub"], tools }, logger);
  for (let lists = 0; lists < 2; lists++) {
    const inputSchema = { type: "object", properties: { repo: {}, title: {} } };
    expect(mistyped.decide({ kind: "tool", server: "hub", name: "issue", inputSchema }).kind).toBe("allowed");
  }
  expect(warnings).toEqual([expect.stringContaining(`tool "issue" of "hub" does not list arguments`)]);
  expect(warnings[0]).toContain(`"rpeo"`);
  expect(warnings[0]).not.toContain(`"title"`);
});
