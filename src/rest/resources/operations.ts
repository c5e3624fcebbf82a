import type { ApiOperation } from "./api-context.ts";
import { KEY_OPERATIONS, KEY_SCHEMAS } from "./keys.ts";
import { SESSION_OPERATIONS, SESSION_SCHEMAS } from "./session.ts";
import { TENANT_OPERATIONS, TENANT_SCHEMAS } from "./tenants.ts";

/** All operations of the REST API, in the order of its reference. */
export const OPERATIONS: readonly ApiOperation[] = [...SESSION_OPERATIONS, ...TENANT_OPERATIONS, ...KEY_OPERATIONS];

/** The schemas of what they take and answer, by name. */
export const SCHEMAS = { ...SESSION_SCHEMAS, ...TENANT_SCHEMAS, ...KEY_SCHEMAS };
