import type { KeyGrants, KeyRole } from "../../src/store/keep/api-keys.ts";
import type { Thing } from "./team-servers.ts";
import { containsThing, SETS, type TeamSet } from "./team-sets.ts";

/** A key, and what it may see, written down without the code that decides it. */
export interface TeamKey {
  tenant: string;
  grants: KeyGrants;
  role?: KeyRole;
  /** What becomes of it after it was created. */
  fate?: "revoked" | "expired" | "rotated";
  /** Whether it may see a thing of its own tenant, outside of sets. */
  sees: (thing: OwnThing) => boolean;
  /** The sets that it may use; default: none. */
  sets?: readonly TeamSet[];
  /** Whether it may see a thing of such a set; default: everything in it. */
  seesInSets?: (thing: OwnThing) => boolean;
}

type OwnThing = Omit<Thing, "tenant">;

const allow = (...patterns: string[]): KeyGrants => ({ allow: patterns, deny: [], readOnly: false });
const EVERYTHING = () => true;
const NOTHING = () => false;
const unlessDenied = ({ server, kind, name }: OwnThing) =>
  server !== "vault" &&
  !(server === "docs" && kind === "tool" && name === "secret") &&
  !(server === "old" && kind === "prompt");
const whenReading = ({ kind, name }: OwnThing) => kind !== "method" && !(kind === "tool" && name === "secret");

export const TEAM_KEYS: Readonly<Record<string, TeamKey>> = {
  "default-admin": { tenant: "default", role: "admin", grants: allow("*"), sees: EVERYTHING, sets: SETS },
  "default-denied": {
    tenant: "default",
    grants: { ...allow("*"), deny: ["vault", "docs.secret", "old/prompts"] },
    sees: unlessDenied,
    sets: SETS,
    seesInSets: unlessDenied,
  },
  "acme-all": { tenant: "acme", grants: allow("*"), sees: EVERYTHING, sets: SETS },
  "acme-docs": {
    tenant: "acme",
    grants: { ...allow("docs"), deny: ["docs.sec*"] },
    sees: ({ server, kind, name }) => server === "docs" && !(kind === "tool" && name === "secret"),
  },
  "acme-reader": {
    tenant: "acme",
    grants: { ...allow("*"), readOnly: true },
    sees: whenReading,
    sets: SETS,
    seesInSets: whenReading,
  },
  "acme-operator": {
    tenant: "acme",
    role: "operator",
    grants: allow("docs.look"),
    sees: ({ server, kind, name }) => server === "docs" && (kind === "server" || (kind === "tool" && name === "look")),
  },
  "acme-revoked": { tenant: "acme", grants: allow("*"), fate: "revoked", sees: NOTHING },
  "beta-rotated": { tenant: "beta", grants: allow("*"), fate: "rotated", sees: EVERYTHING, sets: SETS },
  "beta-kinds": {
    tenant: "beta",
    grants: allow("docs/resources", "old/prompts", "*.look"),
    sees: ({ server, kind, name }) =>
      kind === "server" ||
      (kind === "tool" && name === "look") ||
      (kind === "resource" && server === "docs") ||
      (kind === "prompt" && server === "old"),
  },
  "acme-finance": {
    tenant: "acme",
    grants: { ...allow("set:fin*", "old.look"), deny: ["vault.secret", "set:support"] },
    sees: ({ server, kind, name }) => server === "old" && (kind === "server" || (kind === "tool" && name === "look")),
    sets: ["finance"],
    seesInSets: ({ server, kind, name }) => !(server === "vault" && kind === "tool" && name === "secret"),
  },
  "beta-support": { tenant: "beta", grants: allow("set:support"), sees: NOTHING, sets: ["support"] },
  "beta-expired": { tenant: "beta", grants: allow("*"), fate: "expired", sees: NOTHING },
};

/** Texts that are no keys, though each has something of one. */
const IMPOSTORS = ["the secret of another key", "the secret before a rotation", "no secret"] as const;

/** Those that are let in. */
export const VALID_CALLERS = Object.keys(TEAM_KEYS).filter((name) => {
  const fate = TEAM_KEYS[name]?.fate;
  return fate === undefined || fate === "rotated";
});

export const CALLERS: readonly string[] = [...Object.keys(TEAM_KEYS), ...IMPOSTORS];

export function tenantOf(caller: string): string | undefined {
  return TEAM_KEYS[caller]?.tenant;
}

/** Where a caller is: at the endpoint of all servers, of one server, or of a set. */
export type Place = "all" | "alone" | TeamSet;

export function isSet(place: Place): place is TeamSet {
  return SETS.some((set) => set === place);
}

export function maySee(caller: string, thing: Thing, place: Place): boolean {
  const key = TEAM_KEYS[caller];
  if (key?.tenant !== thing.tenant) return false;
  if (!isSet(place)) return key.sees(thing);
  return reachesSet(caller, place) && containsThing(place, key.tenant, thing) && (key.seesInSets?.(thing) ?? true);
}

export function reachesSet(caller: string, set: TeamSet): boolean {
  const { tenant, sets, fate } = TEAM_KEYS[caller] ?? {};
  const isThere = set === "support" || tenant === "acme";
  return isThere && (fate === undefined || fate === "rotated") && sets?.includes(set) === true;
}

/** Whether the caller may know that its tenant has a server of this id. */
export function seesServer(caller: string, server: string, place: Place): boolean {
  const tenant = tenantOf(caller) ?? "";
  const isThere = !server.endsWith("-only") || server === `${tenant}-only`;
  return isThere && maySee(caller, { tenant, server, kind: "server", name: server }, place);
}

/** Whether it may know of it anywhere. */
export function seesServerAnywhere(caller: string, server: string): boolean {
  return (["all", ...SETS] as const).some((place) => seesServer(caller, server, place));
}
