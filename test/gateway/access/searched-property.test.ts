import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRecord, Decide, SetDefinition } from "../../../src/gateway/index.ts";
import { MemorySets } from "../../../src/gateway/sets/set-source.ts";
import { listedDefinitions } from "../../../src/host/definitions/listed-definitions.ts";
import { MemoryLedger } from "../../../src/host/definitions/memory-ledger.ts";
import { connect } from "../../../src/index.ts";
import { Grants } from "../../../src/team/grants.ts";
import { examples } from "../../fixtures/depth.ts";
import { AccessWorld, type Asking } from "./access-world.ts";
import { DeskApi, DeskUpstream, type DeskTool, type Reached } from "./desk-api.ts";

const NAMES = ["orders", "order_new", "bills", "pay", "look"];

/** An API, and everything that decides about its tools. */
interface Case {
  tools: DeskTool[];
  /** Whose definitions are not as they were accepted. */
  changed: string[];
  pin: boolean | string[];
  set: Omit<SetDefinition, "tools"> & { fixed: string[]; renamed: string[]; described: string[] };
  key: { allow: string[]; deny: string[]; readOnly: boolean };
  denied: string[];
}

const some = (most: number) => fc.subarray(NAMES, { maxLength: most });
const patterns = (most: number) =>
  fc.array(
    fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom("desk", "*", "desk.order*", "set:desk", "*.pay") },
      { weight: 2, arbitrary: fc.constantFrom(...NAMES).map((name) => `desk.${name}`) },
    ),
    { maxLength: most },
  );
const things = (most: number) => patterns(most).map((all) => all.filter((each) => !each.startsWith("set:")));
const whole = (arbitrary: fc.Arbitrary<string[]>, all: string) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(all).map((one): string[] => [one]) }, { weight: 1, arbitrary });

const cases: fc.Arbitrary<Case> = fc.record({
  tools: fc
    .tuple(
      ...NAMES.map((name) =>
        fc.record({
          name: fc.constant(name),
          effect: fc.constantFrom("read", "read", "write", "destructive"),
          isSearched: fc.constantFrom(true, true, true, false),
        }),
      ),
    )
    // There is something to search for.
    .map((tools): DeskTool[] => tools.map((tool, index) => (index === 0 ? { ...tool, isSearched: true } : tool))),
  changed: some(2),
  pin: fc.oneof(fc.boolean(), some(3)),
  set: fc.record({
    allow: whole(things(3), "desk").map((all) => (all.length === 0 ? ["desk"] : all)),
    deny: things(1),
    readOnly: fc.constantFrom(false, false, true),
    pin: fc.boolean(),
    fixed: fc.subarray(NAMES, { minLength: 1, maxLength: 3 }),
    renamed: some(2),
    described: some(1),
  }),
  key: fc.record({
    allow: whole(patterns(3), "*"),
    deny: patterns(1),
    readOnly: fc.constantFrom(false, false, true),
  }),
  denied: some(1),
});

let upstream: DeskUpstream;
beforeAll(async () => (upstream = await DeskUpstream.open()));
afterAll(() => upstream[Symbol.asyncDispose]());

/** Only what the set contains can be shown in another way. */
function definitionOf({ fixed, renamed, described, ...set }: Case["set"]): SetDefinition {
  const contained = (name: string) => {
    const isIn = (text: string) =>
      Grants.prototype.decide.call(new Grants({ allow: [text], deny: [], readOnly: false }), {
        kind: "tool",
        server: "desk",
        name,
      }).kind === "allowed";
    return set.allow.some(isIn) && !(set.deny ?? []).some(isIn);
  };
  const tools = NAMES.filter(contained).map((name) => [
    `desk.${name}`,
    {
      ...(fixed.includes(name) ? { arguments: { account: "KIM" } } : {}),
      ...(renamed.includes(name) ? { name: `my_${name}` } : {}),
      ...(described.includes(name) ? { description: `My ${name}` } : {}),
    },
  ]);
  return { ...set, tools: Object.fromEntries(tools) };
}

/** What was accepted: the same API, of which some tools had other definitions. */
async function acceptedBefore({ tools, changed }: Case): Promise<MemoryLedger> {
  const before = tools.map((tool) => (changed.includes(tool.name) ? { ...tool, description: "Before." } : tool));
  const ledger = new MemoryLedger();
  await using api = DeskApi.open(before, upstream.url);
  await using client = await connect(api.transport);
  const definitions = listedDefinitions("tools", client.asReceived(await client.listTools()));
  await ledger.compare({ server: "desk", kind: "tools", isCommon: true, isPinned: true, definitions });
  return ledger;
}

/** What a call did. */
interface Deed {
  answer: unknown;
  reached: Reached[];
  record: unknown;
}

/** Calls one after the other, each with a number that tells its write from others; what is compared has none. */
class Calls {
  readonly records: (readonly [AuditRecord, unknown])[] = [];
  #number = 0;

  async deed(world: AccessWorld, name: string, { through, args, asking }: Wanted): Promise<Deed> {
    const given = args && { ...args, number: ++this.#number };
    const inner = { name, ...(given ? { arguments: given } : {}) };
    const params = through === undefined ? inner : { name: through, arguments: inner };
    const [reachedBefore, recordedBefore] = [upstream.reached.length, this.records.length];
    const { result, error } = await world.ask("tools/call", params, asking);
    const reached = upstream.reached.slice(reachedBefore);
    const recorded = this.records.slice(recordedBefore);
    expect(recorded).toHaveLength(1);
    const said = error
      ? { code: error.code, message: error.message }
      : { content: result?.content, isError: result?.isError };
    return numberless({ answer: said, reached, record: recorded.map(recordOf) });
  }
}

interface Wanted {
  through?: string;
  args: Record<string, unknown> | undefined;
  asking: Asking;
}

/** The record but for times, ids, sizes and the way. */
function recordOf([record, params]: readonly [AuditRecord, unknown]): unknown {
  const { principal, server, method, set, target, definitionHash, decision, outcome, errorCode } = record;
  return { principal, server, method, set, target, definitionHash, decision, outcome, errorCode, params };
}

function numberless(deed: Deed): Deed {
  return JSON.parse(JSON.stringify(deed, (key, value: unknown) => (key === "number" ? 0 : value))) as Deed;
}

test("a call through call_tool is the call of the tool: the same decision, arguments upstream and record (R8)", async () => {
  const one = async (all: Case) => {
    const calls = new Calls();
    const grants = new Grants(all.key);
    const decide: Decide = (_principal, _operation, target) => grants.decide(target);
    await using api = DeskApi.open(all.tools, upstream.url);
    await using world = await AccessWorld.open(
      { desk: api },
      {
        decide,
        definitions: await acceptedBefore(all),
        policy: { deny: all.denied.map((name) => `desk.${name}`) },
        entries: { desk: { pin: all.pin } },
        sets: new MemorySets({ desk: definitionOf(all.set) }),
        audit: (record, { params }) => void calls.records.push([record, params]),
      },
    );
    const nameIn = (name: string) =>
      (all.set.renamed.includes(name) && definitionOf(all.set).tools?.[`desk.${name}`]?.name) || `desk__${name}`;
    const endpoints: [Asking, (name: string) => string][] = [
      [{}, (name) => `desk__${name}`],
      [{ server: "desk" }, (name) => name],
      [{ set: "desk" }, nameIn],
    ];
    for (const [asking, named] of endpoints) {
      const listing = await world.ask("tools/list", {}, asking);
      // Somebody who may not see the server or the set.
      if (listing.error || ((listing.result?.tools ?? []) as unknown[]).length === 0) continue;
      const prefix = asking.server === undefined ? "desk__" : "";
      const through = `${prefix}call_tool`;
      const isThere = JSON.stringify(listing.result).includes(`"${through}"`);
      const usable: string[] = [];
      for (const { name, isSearched } of all.tools) {
        if (!isThere && !isSearched) continue;
        const shown = named(name);
        for (const args of [{}, { account: "EVE" }, { note: "n" }]) {
          const direct = await calls.deed(world, shown, { args, asking });
          expect(await calls.deed(world, shown, { through, args, asking })).toEqual(direct);
          if (direct.reached.length > 0 && !usable.includes(shown)) usable.push(shown);
        }
      }
      if (!isThere) {
        expect(usable).toEqual([]);
        continue;
      }
      const query = {
        name: `${prefix}search_tools`,
        arguments: { query: "desk do does my order orders bills pay look new", limit: 50 },
      };
      const { result } = await world.ask("tools/call", query, asking);
      type Found = { servers: { tools: { name: string }[] }[] };
      const { servers } = (result?.structuredContent ?? { servers: [] }) as Found;
      const found = servers.flatMap(({ tools }) => tools).map(({ name }) => name);
      expect(found.toSorted()).toEqual(usable.toSorted());
    }
  };
  await fc.assert(fc.asyncProperty(cases, one), { seed: 20261118, numRuns: examples(60), endOnFailure: true });
}, 300_000);
