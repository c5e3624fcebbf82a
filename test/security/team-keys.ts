import type { KeyGrants, KeyRole } from "../../src/store/keep/api-keys.ts";
import type { Thing } from "./team-servers.ts";

/** A key, and what it may see, written down without the code that decides it. */
export interface TeamKey {
  tenant: string;
  grants: KeyGrants;
  role?: KeyRole;
  /** What becomes of it after it was created. */
  fate?: "revoked" | "expired" | "rotated";
  /** Whether it may see a thing of its own tenant. */
  sees: (thing: Pick<Thing, "server" | "kind" | "name">) => boolean;
}

const allow = (...patterns: string[]): KeyGrants => ({ allow: patterns, deny: [], readOnly: false });
const EVERYTHING = () => true;
const NOTHING = () => false;

export const TEAM_KEYS: Readonly<Record<string, TeamKey>> = {
  "default-admin": { tenant: "default", role: "admin", grants: allow("*"), sees: EVERYTHING },
  "default-denied": {
    tenant: "default",
    grants: { ...allow("*"), deny: ["vault", "docs.secret", "old/prompts"] },
    sees: ({ server, kind, name }) =>
      server !== "vault" &&
      !(server === "docs" && kind === "tool" && name === "secret") &&
      !(server === "old" && kind === "prompt"),
  },
  "acme-all": { tenant: "acme", grants: allow("*"), sees: EVERYTHING },
  "acme-docs": {
    tenant: "acme",
    grants: { ...allow("docs"), deny: ["docs.sec*"] },
    sees: ({ server, kind, name }) => server === "docs" && !(kind === "tool" && name === "secret"),
  },
  "acme-reader": {
    tenant: "acme",
    grants: { ...allow("*"), readOnly: true },
    sees: ({ kind, name }) => kind !== "method" && !(kind === "tool" && name === "secret"),
  },
  "acme-operator": {
    tenant: "acme",
    role: "operator",
    grants: allow("docs.look"),
    sees: ({ server, kind, name }) => server === "docs" && (kind === "server" || (kind === "tool" && name === "look")),
  },
  "acme-revoked": { tenant: "acme", grants: allow("*"), fate: "revoked", sees: NOTHING },
  "beta-rotated": { tenant: "beta", grants: allow("*"), fate: "rotated", sees: EVERYTHING },
  "beta-kinds": {
    tenant: "beta",
    grants: allow("docs/resources", "old/prompts", "*.look"),
    sees: ({ server, kind, name }) =>
      kind === "server" ||
      (kind === "tool" && name === "look") ||
      (kind === "resource" && server === "docs") ||
      (kind === "prompt" && server === "old"),
  },
  "beta-expired": { tenant: "beta", grants: allow("*"), fate: "expired", sees: NOTHING },
};

/** Texts that are no keys, though each has something of one. */
const IMPOSTORS = ["the secret of another key", "the secret before a rotation", "no secret"] as const;

export const CALLERS: readonly string[] = [...Object.keys(TEAM_KEYS), ...IMPOSTORS];

export function tenantOf(caller: string): string | undefined {
  return TEAM_KEYS[caller]?.tenant;
}

export function maySee(caller: string, thing: Thing): boolean {
  const key = TEAM_KEYS[caller];
  return key?.tenant === thing.tenant && key.sees(thing);
}

/** Whether the caller may know that its tenant has a server of this id. */
export function seesServer(caller: string, server: string): boolean {
  const tenant = tenantOf(caller) ?? "";
  const isThere = !server.endsWith("-only") || server === `${tenant}-only`;
  return isThere && maySee(caller, { tenant, server, kind: "server", name: server });
}
