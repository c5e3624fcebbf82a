import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";
import type { CheckId } from "./check.ts";

/** What lies between us and a server: a process, a network, or nothing. */
export type ReachKind = "stdio" | "http" | "api";

export function wayOf({ kind }: ResolvedEntry["reach"]): ReachKind {
  return kind === "sse" ? "http" : kind;
}

/** What was seen on the way to a connection that failed. */
export interface FailureEvidence {
  kind: ReachKind;
  /** Something other than messages came on stdout. */
  isNoisy: boolean;
  /** An answer began, whatever it was. */
  hasAnswered: boolean;
  /** The first step of the way to the server that did not work. */
  brokenStep: CheckId | undefined;
}

/** Of a child process; what is not here is about the protocol. */
const OF_PROCESS: Partial<Record<ErrorCode, CheckId>> = {
  COMMAND_NOT_FOUND: "command",
  PERMISSION_DENIED: "command",
  // The system could not start what was found.
  CONNECTION_FAILED: "command",
  // The rest of the entry was checked before: only the folder is looked at when it starts.
  CONFIG_INVALID: "folder",
  SERVER_EXITED: "starts",
  CONNECTION_LOST: "starts",
};

const OF_NETWORK: Partial<Record<ErrorCode, CheckId>> = {
  CONFIG_INVALID: "configuration",
  CONNECTION_FAILED: "http",
  ADDRESS_REFUSED: "http",
  AUTH_REQUIRED: "authentication",
  FORBIDDEN: "authentication",
  HTTP_STATUS: "http",
  NOT_MCP: "http",
  REDIRECT_REFUSED: "http",
  CONNECTION_LOST: "http",
};

/** With these, a step that was seen not to work is to blame. */
const STOPPED_ON_THE_WAY: readonly ErrorCode[] = ["CONFIG_INVALID", "CONNECTION_FAILED", "ADDRESS_REFUSED", "TIMEOUT"];

/** Which check an error of connecting is the failure of. */
export function findFailedCheck(
  { code }: NexusError,
  { kind, isNoisy, hasAnswered, brokenStep }: FailureEvidence,
): CheckId {
  if (kind === "stdio") return OF_PROCESS[code] ?? (code === "TIMEOUT" && isNoisy ? "stdout" : "protocol");
  if (kind === "api") return code === "CONFIG_INVALID" || code === "UNTRUSTED" ? "configuration" : "protocol";
  if (brokenStep !== undefined && STOPPED_ON_THE_WAY.includes(code)) return brokenStep;
  return OF_NETWORK[code] ?? (code === "TIMEOUT" && !hasAnswered ? "http" : "protocol");
}
