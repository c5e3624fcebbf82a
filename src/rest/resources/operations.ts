import type { ApiOperation } from "./api-context.ts";
import { API_OPERATIONS, API_SCHEMAS } from "./apis.ts";
import { AUDIT_OPERATIONS, AUDIT_SCHEMAS } from "./audit.ts";
import { EVENT_OPERATIONS } from "./events.ts";
import { KEY_OPERATIONS, KEY_SCHEMAS } from "./keys.ts";
import { METRIC_OPERATIONS, METRIC_SCHEMAS } from "./metrics.ts";
import { SECRET_OPERATIONS, SECRET_SCHEMAS } from "./secrets.ts";
import { SERVER_OPERATIONS, SERVER_SCHEMAS } from "./servers.ts";
import { SESSION_OPERATIONS, SESSION_SCHEMAS } from "./session.ts";
import { SET_OPERATIONS, SET_SCHEMAS } from "./sets.ts";
import { TENANT_OPERATIONS, TENANT_SCHEMAS } from "./tenants.ts";
import { TOOL_FILE_OPERATIONS, TOOL_FILE_SCHEMAS } from "./tool-files.ts";
import { TOOL_OPERATIONS, TOOL_SCHEMAS } from "./tools.ts";

/** All operations of the REST API, in the order of its reference. */
export const OPERATIONS: readonly ApiOperation[] = [
  ...SESSION_OPERATIONS,
  ...TENANT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...SERVER_OPERATIONS,
  ...SECRET_OPERATIONS,
  ...TOOL_OPERATIONS,
  ...TOOL_FILE_OPERATIONS,
  ...API_OPERATIONS,
  ...SET_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...METRIC_OPERATIONS,
  ...EVENT_OPERATIONS,
];

/** The schemas of what they take and answer, by name. */
export const SCHEMAS = {
  ...SESSION_SCHEMAS,
  ...TENANT_SCHEMAS,
  ...KEY_SCHEMAS,
  ...SERVER_SCHEMAS,
  ...SECRET_SCHEMAS,
  ...TOOL_SCHEMAS,
  ...TOOL_FILE_SCHEMAS,
  ...API_SCHEMAS,
  ...SET_SCHEMAS,
  ...AUDIT_SCHEMAS,
  ...METRIC_SCHEMAS,
};
