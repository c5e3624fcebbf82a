import { describe, expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { AccessTarget, RequestTarget } from "./access-target.ts";
import {
  NO_ENTRY_RULES,
  Policy,
  stricter,
  type EntryRules,
  type Decision,
  type PolicySettings,
  type ToolRules,
} from "./policy.ts";

const withTools = (rules: ToolRules | undefined): EntryRules => ({ ...NO_ENTRY_RULES, toolsOf: () => rules });

const READ_ONLY = { readOnlyHint: true };
const of = (kind: AccessTarget["kind"], name: string, server = "git"): AccessTarget => ({ kind, server, name });
const SERVER = of("server", "git");
const LOOK = { ...of("tool", "look"), annotations: READ_ONLY };
const PUSH = of("tool", "push");
const NOTE = of("resource", "note://a");
const GREET = of("prompt", "greet");
const RUN = of("method", "acme/run");
const ALL = [SERVER, LOOK, PUSH, NOTE, GREET, RUN];

/** What a policy leaves of everything there is, by name. */
function left(settings: PolicySettings, own?: ToolRules): string[] {
  const policy = new Policy(settings, withTools(own));
  return ALL.filter((target) => policy.allows(undefined, target)).map(({ name }) => name);
}

const EVERYTHING = ALL.map(({ name }) => name);

describe("allow and deny", () => {
  test.each<[string, string[]]>([
    ["*", EVERYTHING],
    ["git", EVERYTHING],
    ["git.*", EVERYTHING],
    ["git*", EVERYTHING],
    ["*.*", EVERYTHING],
    ["git.look", ["git", "look"]],
    ["*.l*k", ["git", "look"]],
    ["git.**", ["git", "look", "push"]],
    ["git/resources", ["git", "note://a"]],
    ["git/prompts", ["git", "greet"]],
    ["*/methods", ["git", "acme/run"]],
    ["github", []],
    ["hub.look", []],
  ])("where %s is allowed, nothing else is", (pattern, names) => {
    expect(left({ allow: [pattern] })).toEqual(names);
  });

  test.each<[string, string[]]>([
    ["*", []],
    ["git", []],
    ["git.*", []],
    ["g*", []],
    ["*.push", ["git", "look", "note://a", "greet"]],
    ["git.**", ["git", "note://a", "greet"]],
    ["git/resources", ["git", "look", "push", "greet"]],
    ["git/prompts", ["git", "look", "push", "note://a"]],
    ["git/methods", ["git", "look", "push", "note://a", "greet"]],
    ["github", EVERYTHING],
  ])("where %s is denied, the rest stays, and a rule for a server leaves it no unknown methods", (pattern, names) => {
    expect(left({ deny: [pattern] })).toEqual(names);
  });

  test("deny wins over every allow", () => {
    expect(left({ allow: ["*", "git.push"], deny: ["git.push", "git/prompts"] })).toEqual([
      "git",
      "look",
      "note://a",
      "acme/run",
    ]);
  });

  test.each(["", " git", "Git.push", "*push*", "-git", "git/tools", "git/", "git.", "/resources", "gi*t.push", "*/x"])(
    "%j is not a pattern, and a policy with it is refused",
    (pattern) => {
      for (const settings of [{ allow: [pattern] }, { deny: [pattern] }]) {
        expect(() => new Policy(settings, NO_ENTRY_RULES)).toThrow(
          expect.objectContaining({
            code: "CONFIG_INVALID",
            message: `${JSON.stringify(pattern)} is not a valid policy pattern`,
          }),
        );
      }
    },
  );
});

test("readOnly allows only read-only tools, resources and prompts", () => {
  expect(left({ readOnly: true })).toEqual(["git", "look", "note://a", "greet"]);
  expect(left({ readOnly: true, allow: ["*"] })).toEqual(["git", "look", "note://a", "greet"]);
});

test("the rules of an entry apply to its tools, and deny unknown methods unless a policy allows them", () => {
  expect(left({}, { deny: ["push"] })).toEqual(["git", "look", "note://a", "greet"]);
  expect(left({}, { allow: ["push"] })).toEqual(["git", "push", "note://a", "greet"]);
  expect(left({ allow: ["git"] }, { deny: ["push"] })).toEqual(["git", "look", "note://a", "greet", "acme/run"]);
});

test("consent is needed for tools that are not annotated as read-only, and for unknown methods that are allowed", () => {
  const consent = () => true;
  const decided = (settings: PolicySettings) =>
    ALL.map((target) => new Policy(settings, NO_ENTRY_RULES).decide(undefined, target).kind);
  const [free, asks] = ["allowed", "needs-consent"];
  expect(decided({ consent })).toEqual([free, free, asks, free, free, "denied"]);
  expect(decided({ consent, allow: ["*"] })).toEqual([free, free, asks, free, free, asks]);
});

test("without a consent function there is no consent, and only true is consent", async () => {
  const ask = (settings: PolicySettings) =>
    new Policy(settings, NO_ENTRY_RULES).askConsent({ agent: "a", target: PUSH, signal: undefined });
  expect(await ask({})).toBe(false);
  expect(await ask({ consent: () => true })).toBe(true);
  expect(await ask({ consent: () => "yes" as unknown as boolean })).toBe(false);
});

test("subscriptions are decided as resources, completions as what they are for, tasks as their tools", () => {
  const policy = new Policy({ deny: ["git/resources", "git.push"] }, NO_ENTRY_RULES);
  const decided = (target: RequestTarget) => policy.decide(undefined, target).kind;
  expect(decided({ kind: "subscription", server: "git", uri: "note://a" })).toBe("denied");
  expect(decided({ kind: "completion", of: NOTE })).toBe("denied");
  expect(decided({ kind: "completion", of: GREET })).toBe("allowed");
  expect(decided({ kind: "task", server: "git", tool: PUSH })).toBe("denied");
  expect(decided({ kind: "task", server: "git", tool: LOOK })).toBe("allowed");
  expect(decided({ kind: "task", server: "git", tool: undefined })).toBe("allowed");
  expect(
    new Policy({ deny: ["git"] }, NO_ENTRY_RULES).allows("a", { kind: "task", server: "git", tool: undefined }),
  ).toBe(false);
});

test("isOpen is true exactly if every decision allows", () => {
  const settings: PolicySettings[] = [
    {},
    { deny: ["hub"] },
    { deny: ["git.push"] },
    { allow: ["*"] },
    { readOnly: true },
    { readOnly: false },
    { consent: () => true },
    { visibleTo: { hub: [] } },
    { visibleTo: { git: ["a"] } },
  ];
  for (const one of settings) {
    for (const own of [undefined, {}, { deny: [] }]) {
      const policy = new Policy(one, withTools(own));
      for (const target of ALL) {
        if (policy.isOpen(target.kind, "git")) expect(policy.decide(undefined, target)).toEqual({ kind: "allowed" });
      }
    }
  }
  const open = (one: PolicySettings, own?: ToolRules) =>
    ALL.filter(({ kind }) => new Policy(one, withTools(own)).isOpen(kind, "git")).map(({ name }) => name);
  expect(open({ deny: ["hub"], visibleTo: { hub: [] } })).toEqual(EVERYTHING);
  expect(open({ readOnly: true })).toEqual(["git", "note://a", "greet"]);
  expect(open({}, { deny: ["x"] })).toEqual(["git", "note://a", "greet"]);
});

test("the stricter of two decisions is the one that allows less", () => {
  const decisions: Decision[] = [{ kind: "allowed" }, { kind: "needs-consent" }, { kind: "denied", reason: "no" }];
  for (const [a, one] of decisions.entries()) {
    for (const [b, other] of decisions.entries()) {
      expect(stricter(one, other)).toEqual(decisions[Math.max(a, b)]);
    }
  }
});

test("a refusal names the thing, its server and the reason", async () => {
  const policy = new Policy({ deny: ["git"] }, NO_ENTRY_RULES);
  const refusals = ALL.map((target) =>
    policy
      .permit({ agent: undefined, target, signal: undefined })
      .catch((error: unknown) => (error instanceof NexusError ? `${error.code} ${error.message}` : error)),
  );
  const said = await Promise.all(refusals);
  expect(said).toEqual([
    `DENIED Server "git" is not allowed: it is on the deny list`,
    `DENIED Tool "look" of server "git" is not allowed: it is on the deny list`,
    `DENIED Tool "push" of server "git" is not allowed: it is on the deny list`,
    `DENIED Resource "note://a" of server "git" is not allowed: it is on the deny list`,
    `DENIED Prompt "greet" of server "git" is not allowed: it is on the deny list`,
    `DENIED Method "acme/run" of server "git" is not allowed: it is on the deny list`,
  ]);
});

test("an entry that is shared with some agents is hidden from the others, whatever the settings allow", () => {
  const shared: EntryRules = {
    ...NO_ENTRY_RULES,
    hasAgents: true,
    agentsOf: (id) => (id === "git" ? ["chat"] : undefined),
  };
  const policy = new Policy({ allow: ["*"], visibleTo: { hub: ["chat"] } }, shared);
  for (const target of ALL) {
    expect(policy.allows("chat", target)).toBe(true);
    expect(policy.decide("other", target)).toMatchObject({ reason: "the server is not shared with this agent" });
    expect(policy.allows(undefined, target)).toBe(false);
    expect(policy.isOpen(target.kind, "git")).toBe(false);
  }
  expect(policy.isSameForAll).toBe(false);
  expect(new Policy({ visibleTo: { git: ["other"] } }, shared).allows("chat", ALL[0] ?? PUSH)).toBe(false);
});
