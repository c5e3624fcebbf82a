import { OPERATIONS } from "../operations/operations.ts";
import { getSession } from "../operations/session.ts";
import type { RestOperation } from "./rest-operation.ts";
import { signIn, signOut } from "./session.ts";
import { streamEvents } from "./stream-events.ts";

/** All operations of the REST API, in the order of its reference. */
export const REST_OPERATIONS: readonly RestOperation[] = OPERATIONS.flatMap((operation) =>
  operation === getSession ? [getSession, signIn, signOut] : [operation],
).concat(streamEvents);
