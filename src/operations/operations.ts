import { APIS } from "./apis.ts";
import { AUDIT } from "./audit.ts";
import { CHANGES } from "./changes.ts";
import { KEYS } from "./keys.ts";
import { getMetrics } from "./metrics.ts";
import type { AnyOperation } from "./operation.ts";
import { SECRETS } from "./secrets.ts";
import { SERVERS } from "./servers.ts";
import { getSession } from "./session.ts";
import { SETS } from "./sets.ts";
import { TENANTS } from "./tenants.ts";
import { TOOL_FILES } from "./tool-files.ts";

/** All operations, in the order of the reference. Paths with a fixed end come before those with a name in its place. */
export const OPERATIONS: readonly AnyOperation[] = [
  getSession,
  ...[TENANTS, KEYS, SERVERS, SECRETS, CHANGES, TOOL_FILES, APIS, SETS, AUDIT].flatMap(operationsOf),
  getMetrics,
];

function operationsOf(subject: Readonly<Record<string, AnyOperation>>): AnyOperation[] {
  return Object.values(subject);
}
