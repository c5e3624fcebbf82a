import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PrincipalAccess } from "../../src/gateway/access/principal-access.ts";
import { CompiledSet } from "../../src/gateway/sets/compiled-set.ts";
import { Policy, type Decision, type EntryRules } from "../../src/host/directory/policy.ts";
import { MemoryLedger } from "../../src/host/definitions/memory-ledger.ts";
import { Pins } from "../../src/host/definitions/pins.ts";
import type { AccessTarget } from "../../src/host/directory/access-target.ts";
import { Grants } from "../../src/team/grants.ts";
import { SILENT } from "../../src/text/logger.ts";
import { decideOf, policyOf, rules, SERVERS, USERS, type Rules, type Thing } from "../gateway/access/access-model.ts";

/** Worlds of one line of the recording. */
const BLOCK = 50;
const WORLDS = 1_000;

const OF_ONE: Omit<Thing, "server">[] = [
  { kind: "tool", name: "look", annotations: { readOnlyHint: true } },
  { kind: "tool", name: "change" },
  { kind: "tool", name: "destroy", annotations: { destructiveHint: true } },
  { kind: "tool", name: "working" },
  { kind: "prompt", name: "greet" },
  { kind: "prompt", name: "curse" },
  { kind: "resource", name: "note://open" },
  { kind: "resource", name: "note://secret" },
  { kind: "resource", name: "note://{name}" },
  { kind: "method", name: "acme/run" },
];
const THINGS: AccessTarget[] = SERVERS.flatMap((server) => [
  { server, kind: "server" as const, name: server },
  ...OF_ONE.map((thing) => ({ ...thing, server })),
]);
/** Tools that are found by searching, those that lead to them, and a major version, which is ruled as its server. */
const SEARCHED: AccessTarget[] = SERVERS.flatMap((server) => {
  const look = {
    kind: "tool" as const,
    server,
    name: "look",
    annotations: { readOnlyHint: true },
    through: "call_tool",
  };
  const destroy = { kind: "tool" as const, server, name: "destroy", through: "call_tool" };
  const way = { kind: "tool" as const, server, name: "call_tool", isWay: true };
  return [
    look,
    destroy,
    { ...way, searched: [look, destroy] },
    { ...way, searched: [destroy] },
    { ...way, searched: [] },
    { ...way, calls: "destroy" },
  ];
});
const ALL: AccessTarget[] = [...THINGS, ...SEARCHED, ...OF_ONE.map((thing) => ({ ...thing, server: "alpha@v2" }))];

/** Counts and digests of what was decided, a line for each block of worlds. */
class Decided {
  readonly #lines: string[] = [];
  #counts: Record<string, number> = {};
  #digest = createHash("sha256");
  #worlds = 0;

  add(world: readonly string[]): void {
    for (const decision of world) {
      const [kind = ""] = decision.split(":");
      this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
      this.#digest.update(`${decision}\n`);
    }
    if (++this.#worlds % BLOCK > 0) return;
    const counts = Object.entries(this.#counts).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const told = counts.map(([kind, count]) => `${count} ${kind}`).join(", ");
    this.#lines.push(`worlds ${this.#worlds - BLOCK}..${this.#worlds - 1}: ${told}; ${this.#digest.digest("hex")}`);
    this.#counts = {};
    this.#digest = createHash("sha256");
  }

  get text(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

const PINNED_BY_NONE = {
  pins: new Pins({ ledger: new MemoryLedger(), pinOf: () => undefined, optionsAgain: "", logger: SILENT }),
};

function told(decision: Decision): string {
  return decision.kind === "denied" ? `denied: ${decision.reason}` : decision.kind;
}

function entryRulesOf({ own }: Rules): EntryRules {
  return { hasAgents: false, toolsOf: (server) => own[server], agentsOf: () => undefined };
}

test("R8: a host decides in the recorded way who sees and uses what, whatever its rules", async () => {
  const decided = new Decided();
  for (const all of fc.sample(rules, { seed: 20261101, numRuns: WORLDS })) {
    const policy = new Policy(policyOf(all), entryRulesOf(all));
    decided.add([...USERS, undefined].flatMap((user) => ALL.map((thing) => told(policy.decide(user, thing)))));
  }
  await expect(decided.text).toMatchFileSnapshot("../golden/decisions/host.txt");
});

test("R8: a gateway decides in the recorded way who sees and uses what, whatever its rules", async () => {
  const decided = new Decided();
  for (const all of fc.sample(rules, { seed: 20261102, numRuns: WORLDS })) {
    const policy = new Policy(policyOf(all), entryRulesOf(all));
    const access = new PrincipalAccess(policy, { decide: decideOf(all) }, PINNED_BY_NONE);
    const of = (id: string) =>
      ALL.flatMap((thing) => {
        const principal = { tenant: "default", id };
        const hears = thing.kind === "resource" ? [`hears ${access.hears(principal, thing.server, thing.name)}`] : [];
        return [told(access.decide(principal, thing)), ...hears];
      });
    decided.add([...USERS.flatMap(of), `same ${access.isSameForAll}`]);
  }
  await expect(decided.text).toMatchFileSnapshot("../golden/decisions/gateway.txt");
});

const pattern = fc.constantFrom(
  "*",
  "alpha",
  "beta.*",
  "alpha.l*",
  "*.change",
  "beta.destroy",
  "alpha/resources",
  "*/prompts",
  "beta/methods",
);
const grants = fc.record({
  allow: fc.array(fc.oneof(pattern, fc.constantFrom("set:desk", "set:*", "set:d*")), { minLength: 1, maxLength: 4 }),
  deny: fc.array(fc.oneof(pattern, fc.constantFrom("set:desk", "set:other")), { maxLength: 2 }),
  readOnly: fc.boolean(),
});
const sets = fc.record({
  allow: fc.array(pattern, { minLength: 1, maxLength: 3 }),
  deny: fc.array(pattern, { maxLength: 2 }),
  readOnly: fc.boolean(),
});

test("R8: what a key and a set allow is decided and explained in the recorded way", async () => {
  const decided = new Decided();
  for (const [key, set] of fc.sample(fc.tuple(grants, sets), { seed: 20261103, numRuns: WORLDS })) {
    const [ofKey, ofSet] = [new Grants(key), new CompiledSet("desk", set, SILENT)];
    const explained = (thing: Parameters<Grants["explain"]>[0]) => {
      const { allowed, reason, rule } = ofKey.explain(thing);
      return `${allowed ? "allows" : "refuses"}: ${reason}, ${rule}`;
    };
    decided.add([
      explained({ server: "", kind: "set", name: "desk" }),
      ...THINGS.flatMap((thing) => [
        told(ofKey.decide(thing)),
        explained(thing),
        told(ofKey.decide({ ...thing, set: "desk" })),
        explained({ ...thing, set: "desk" }),
        told(ofSet.decide(thing)),
        `rule: ${ofSet.findRule(thing)}`,
      ]),
    ]);
  }
  await expect(decided.text).toMatchFileSnapshot("../golden/decisions/keys.txt");
});
