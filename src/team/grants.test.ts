import { expect, test } from "vitest";
import { CompiledSet } from "../gateway/sets/compiled-set.ts";
import { setTarget, type AccessTarget } from "../host/directory/access-target.ts";
import { SILENT } from "../text/logger.ts";
import { parseGrant } from "./grant-pattern.ts";
import { explainInSet, Grants } from "./grants.ts";

const tool = (name: string, set?: string): AccessTarget => ({ kind: "tool", server: "hub", name, set });
const grants = (allow: string[], deny: string[] = [], readOnly = false) => new Grants({ allow, deny, readOnly });
const kinds = (of: Grants, ...targets: AccessTarget[]) => targets.map((target) => of.decide(target).kind);

test.each<[string[], string[], string]>([
  [["set:desk"], [], "allow set:desk"],
  [["set:d*"], [], "allow set:d*"],
  [["hub", "*"], [], "allow *"],
  [["*"], ["set:desk"], "deny set:desk"],
  [["set:desk"], ["*"], "deny *"],
])("a key that allows %j and denies %j decides about a set by %s", (allow, deny, rule) => {
  const explained = grants(allow, deny).explain(setTarget("desk"));
  expect(explained).toMatchObject({ allowed: rule.startsWith("allow"), rule });
});

test("patterns of servers and their things say nothing about sets, and sets nothing about servers", () => {
  expect(kinds(grants(["hub", "hub.*", "*.search", "*/prompts", "h*"]), setTarget("hub"))).toEqual(["denied"]);
  const bySet = grants(["set:*"]);
  expect(kinds(bySet, setTarget("desk"), tool("search"), tool("search", "desk"))).toEqual([
    "allowed",
    "denied",
    "allowed",
  ]);
  expect(kinds(bySet, { kind: "server", server: "hub", name: "hub" })).toEqual(["denied"]);
});

test("in a set the key's denials and its read-only flag hold, and nothing of a set that it may not use", () => {
  const some = grants(["set:desk"], ["hub.delete*"]);
  expect(kinds(some, tool("search", "desk"), tool("delete_all", "desk"), tool("search", "other"))).toEqual([
    "allowed",
    "denied",
    "denied",
  ]);
  const reader = grants(["set:desk"], [], true);
  const looking = { ...tool("look", "desk"), annotations: { readOnlyHint: true } };
  expect(kinds(reader, looking, tool("change", "desk"))).toEqual(["allowed", "denied"]);
  expect(some.explain(tool("delete_all", "desk")).rule).toBe("deny hub.delete*");
  expect(some.explain(tool("search", "desk")).rule).toBe("allow set:desk");
  expect(reader.explain(tool("change", "desk")).rule).toBe("read-only");
});

test("what a set does not contain is not for any key, and the set's own rule is named", () => {
  const set = new CompiledSet("desk", { allow: ["hub"], deny: ["hub.delete*"] }, SILENT);
  const key = { grants: { allow: ["*"], deny: [], readOnly: false }, revokedAt: undefined, expiresAt: undefined };
  const explain = (name: string) => explainInSet(key, set, { target: tool(name), now: 0 });
  expect(explain("search")).toMatchObject({ allowed: true, rule: "allow *" });
  expect(explain("delete_all")).toMatchObject({ allowed: false, rule: "set desk: deny hub.delete*" });
});

test.each(["set:", "set:Desk", "set:a b", "set:a.b", "set:*x", "sets:desk"])("%j is not a pattern", (text) => {
  expect(() => parseGrant(text)).toThrow("is not a valid");
});
