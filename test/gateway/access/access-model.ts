import fc from "fast-check";
import type { Decide } from "../../../src/gateway/index.ts";
import type { PolicySettings } from "../../../src/index.ts";

/** Something of one server, as rules name it. */
export interface Thing {
  server: string;
  kind: "server" | "tool" | "resource" | "prompt" | "method";
  name: string;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean } | undefined;
}

/** What becomes of something that somebody wants. `shown` holds for lists, `used` for everything else. */
export interface Fate {
  shown: boolean;
  used: boolean;
}

/** Rules of every kind, as data: a program would write them as settings, entries and a function. */
export interface Rules {
  allow: string[] | undefined;
  deny: string[] | undefined;
  readOnly: boolean;
  /** Who sees the first server; all where it is undefined. */
  seers: string[] | undefined;
  /** What the consent function says; undefined where there is none. */
  consent: boolean | undefined;
  /** Of the entries of the servers. */
  own: Record<string, { allow?: string[]; deny?: string[] }>;
  /** What the gateway's own function denies or has consented to, as `kind name`. */
  narrow: { denied: string[]; asks: string[]; deniesDestructive: boolean; user: string } | undefined;
}

export const USERS = ["alice", "bob"];
export const SERVERS = ["alpha", "beta"];
const NAMES = [
  "server alpha",
  "server beta",
  "tool look",
  "tool change",
  "tool destroy",
  "tool working",
  "prompt greet",
  "prompt curse",
  "resource note://open",
  "resource note://secret",
  "resource note://{name}",
  "method acme/run",
];

const servers = fc.constantFrom("alpha", "beta", "*", "a*");
const pattern = fc.oneof(
  { arbitrary: servers, weight: 1 },
  { arbitrary: servers.map((server) => `${server}.*`), weight: 1 },
  {
    arbitrary: fc
      .tuple(servers, fc.constantFrom("look", "l*", "*e", "destroy", "**", "none"))
      .map(([server, tool]) => `${server}.${tool}`),
    weight: 3,
  },
  {
    arbitrary: fc
      .tuple(servers, fc.constantFrom("resources", "prompts", "methods"))
      .map(([server, kind]) => `${server}/${kind}`),
    weight: 3,
  },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const own = fc.record(
  {
    allow: fc.array(fc.constantFrom("look", "*o*", "destroy", "*"), { maxLength: 2 }),
    deny: fc.array(fc.constantFrom("look", "c*", "destroy"), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

export const ownRules = fc.record({ alpha: own, beta: own }, { requiredKeys: [] });
const fewOwnRules = fc.oneof({ arbitrary: fc.constant({}), weight: 2 }, { arbitrary: ownRules, weight: 1 });

export const rules: fc.Arbitrary<Rules> = fc.record({
  allow: maybe(fc.array(pattern, { maxLength: 4 })),
  deny: maybe(fc.array(pattern, { maxLength: 2 })),
  readOnly: fc.constantFrom(false, false, true),
  seers: maybe(fc.subarray(USERS)),
  consent: maybe(fc.boolean()),
  own: fewOwnRules,
  narrow: maybe(
    fc.record({
      denied: fc.subarray(NAMES, { maxLength: 3 }),
      asks: fc.subarray(NAMES.slice(2), { maxLength: 3 }),
      deniesDestructive: fc.boolean(),
      user: fc.constantFrom(...USERS),
    }),
  ),
});

/** The rules as a program gives them to a host. */
export function policyOf({ allow, deny, readOnly, seers, consent }: Rules): PolicySettings {
  return {
    allow,
    deny,
    readOnly,
    ...(seers ? { visibleTo: { alpha: seers } } : {}),
    ...(consent === undefined ? {} : { consent: () => consent }),
  };
}

/** The same for a gateway. */
export function decideOf({ narrow }: Rules): Decide | undefined {
  if (!narrow) return undefined;
  return ({ id }, _operation, { kind, name, annotations }) => {
    const isConcerned = id === narrow.user;
    const isDestructive = narrow.deniesDestructive && annotations?.destructiveHint === true;
    if (isConcerned && (narrow.denied.includes(`${kind} ${name}`) || isDestructive)) {
      return { kind: "denied", reason: "the model says so" };
    }
    return narrow.asks.includes(`${kind} ${name}`) ? { kind: "needs-consent" } : { kind: "allowed" };
  };
}

/** What the documents say has to become of it, written a second time and as plainly as they say it. */
export function fateOf(thing: Thing, user: string, all: Rules, { isGateway }: { isGateway: boolean }): Fate {
  const byHost = hostSays(thing, user, all);
  const byGateway = isGateway ? gatewaySays(thing, user, all) : "yes";
  if (byHost === "no" || byGateway === "no") return { shown: false, used: false };
  const isAsked = byHost === "ask" || byGateway === "ask";
  return { shown: true, used: !isAsked || all.consent === true };
}

type Word = "yes" | "ask" | "no";

function hostSays(thing: Thing, user: string, { allow, deny = [], readOnly, seers, consent, own }: Rules): Word {
  const { server, kind, name, annotations } = thing;
  if (server === "alpha" && seers && !seers.includes(user)) return "no";
  if (deny.some((text) => isAbout(text, thing))) return "no";
  if (kind === "server") return !allow || allow.some((text) => likes(serverPart(text), server)) ? "yes" : "no";
  if (allow && !allow.some((text) => isAbout(text, thing))) return "no";
  const entry = own[server] ?? {};
  if (kind === "tool") {
    if (
      entry.deny?.some((text) => likes(text, name)) ||
      (entry.allow && !entry.allow.some((text) => likes(text, name)))
    )
      return "no";
    if (annotations?.readOnlyHint) return "yes";
    if (readOnly) return "no";
    return consent === undefined ? "yes" : "ask";
  }
  if (kind !== "method") return "yes";
  const isRuled =
    consent !== undefined ||
    entry.allow !== undefined ||
    entry.deny !== undefined ||
    deny.some((text) => likes(serverPart(text), server));
  if (readOnly || (isRuled && !allow)) return "no";
  return consent === undefined ? "yes" : "ask";
}

function gatewaySays({ server, kind, name, annotations }: Thing, user: string, { narrow }: Rules): Word {
  if (!narrow) return "yes";
  const isDestructive = narrow.deniesDestructive && annotations?.destructiveHint === true;
  const isDenied = narrow.denied.some((text) => text === `server ${server}` || text === `${kind} ${name}`);
  if (user === narrow.user && (isDenied || isDestructive)) return "no";
  return narrow.asks.includes(`${kind} ${name}`) ? "ask" : "yes";
}

function isAbout(text: string, { server, kind, name }: Thing): boolean {
  if (!likes(serverPart(text), server)) return false;
  const rest = text.slice(serverPart(text).length);
  if (rest === "" || rest === ".*") return true;
  return rest.startsWith("/") ? rest === `/${kind}s` : kind === "tool" && likes(rest.slice(1), name);
}

function serverPart(text: string): string {
  return /^[^./]*/.exec(text)?.[0] ?? "";
}

function likes(text: string, name: string): boolean {
  const parts = text.split("*").map((part) => part.replaceAll(/[^A-Za-z0-9]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
