import fc from "fast-check";
import { CALLERS } from "./team-keys.ts";
import { TENANTS } from "./team-servers.ts";

const SERVERS = ["docs", "old", "vault", ...TENANTS.map((tenant) => `${tenant}-only`)];

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

export type Operation = (typeof OPERATIONS)[number];

/** One thing that one caller does, with whatever was given to anybody. */
export const step = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  caller: fc.constantFrom(...CALLERS),
  /** Which of the things that were given out, counted from the newest. */
  which: fc.nat({ max: 5 }),
  server: fc.constantFrom(...SERVERS),
  /** At the server's own endpoint, or at `/mcp`. */
  isAlone: fc.boolean(),
  choice: fc.nat({ max: 59 }),
  /** Whether a thing that was given out is used by its owner. */
  isOwner: fc.boolean(),
  /** Names another tenant in headers that no gateway should believe. */
  claims: fc.constantFrom(undefined, ...TENANTS),
});

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export function pick<T>(all: readonly T[], { choice }: Step): T {
  const one = all[choice % all.length];
  if (one === undefined) throw new Error("nothing to pick from");
  return one;
}

export function pathOf({ isAlone, server }: Step): string {
  return isAlone ? `/servers/${server}/mcp` : "/mcp";
}

export function fullName({ isAlone, server }: Step, name: string): string {
  return isAlone ? name : `${server}__${name}`;
}

export function fullUri({ isAlone, server }: Step, uri: string): string {
  return isAlone ? uri : `${server}+${uri}`;
}

/** Headers with which other gateways were told a tenant or a user. */
export function claimsOf({ claims }: Step): Record<string, string> {
  if (claims === undefined) return {};
  return { "x-tenant": claims, "x-nexus-tenant": claims, "x-user": `${claims}/admin`, "x-forwarded-user": claims };
}
