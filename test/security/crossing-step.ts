import fc from "fast-check";
import { CALLERS, VALID_CALLERS, type Place } from "./team-keys.ts";
import { TENANTS } from "./team-servers.ts";
import { PEEK } from "./team-sets.ts";

/** Those that more callers may use are used more often. */
const SERVERS = ["docs", "docs", "docs", "old", "old", "vault", "vault", ...TENANTS.map((tenant) => `${tenant}-only`)];

const OPERATIONS = [
  "list",
  "first page",
  "page",
  "call",
  "ask",
  "answer",
  "start task",
  "follow task",
  "read",
  "prompt",
  "complete",
  "unknown method",
  "open session",
  "use session",
  "resume session",
  "end session",
  "open sse",
  "post sse",
  "listen",
  "change",
  "page of the gateway",
  "hidden or absent",
] as const;

/** Can be divided by the lengths of the lists from which something is picked. */
const TURN = 60;

export type Operation = (typeof OPERATIONS)[number];

/** One thing that one caller does, with whatever was given to anybody. */
export const step = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  caller: fc.constantFrom(...CALLERS, ...VALID_CALLERS, ...VALID_CALLERS),
  /** Which of the things that were given out, counted from the newest. */
  which: fc.nat({ max: 5 }),
  server: fc.constantFrom(...SERVERS),
  place: fc.constantFrom<Place>("all", "all", "alone", "alone", "support", "finance"),
  choice: fc.nat({ max: TURN ** 2 - 1 }),
  /** Whether a thing that was given out is used by its owner. */
  isOwner: fc.boolean(),
  /** Names another tenant in headers that no gateway should believe. */
  claims: fc.constantFrom(undefined, ...TENANTS),
  /** Whether a thing that was given out is used at another place than where that was. */
  isElsewhere: fc.integer({ min: 0, max: 5 }).map((number) => number === 0),
});

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One of them; with another turn, independently of the first. */
export function pick<T>(all: readonly T[], { choice }: Step, turn: 0 | 1 = 0): T {
  const one = all[(turn === 0 ? choice % TURN : Math.floor(choice / TURN)) % all.length];
  if (one === undefined) throw new Error("nothing to pick from");
  return one;
}

export function pathOf({ place, server }: Step): string {
  if (place === "all") return "/mcp";
  return place === "alone" ? `/servers/${server}/mcp` : `/sets/${place}/mcp`;
}

/** The name of a thing where the caller is. In a set that gives it another one, its usual name is also tried. */
export function fullName({ place, server, choice }: Step, name: string): string {
  if (place === "support" && server === "docs" && name === "look" && choice % 3 > 0) return PEEK;
  return place === "alone" ? name : `${server}__${name}`;
}

export function fullUri({ place, server }: Step, uri: string): string {
  return place === "alone" ? uri : `${server}+${uri}`;
}

/** Headers with which other gateways were told a tenant or a user. */
export function claimsOf({ claims }: Step): Record<string, string> {
  if (claims === undefined) return {};
  return { "x-tenant": claims, "x-nexus-tenant": claims, "x-user": `${claims}/admin`, "x-forwarded-user": claims };
}
