import type { ErrorCode, NexusError } from "../../errors/nexus-error.ts";
import type { ResolvedEntry } from "../../transport/server-entry.ts";
import type { CheckId } from "./check.ts";

/** How a server is reached: a child process, the network, or inside this process. */
type ReachKind = "stdio" | "http" | "api";

export function wayOf({ kind }: ResolvedEntry["reach"]): ReachKind {
  return kind === "sse" ? "http" : kind;
}

/** What was seen before a connection failed. */
interface FailureEvidence {
  kind: ReachKind;
  /** Whether stdout had anything but messages. */
  isNoisy: boolean;
  /** Whether any answer began. */
  hasAnswered: boolean;
  /** The first failed step on the way to the server. */
  brokenStep: CheckId | undefined;
}

/** For a child process; other codes are about the protocol. */
const OF_PROCESS: Partial<Record<ErrorCode, CheckId>> = {
  COMMAND_NOT_FOUND: "command",
  PERMISSION_DENIED: "command",
  // The system could not start the program.
  CONNECTION_FAILED: "command",
  // The rest of the entry was checked before; only the folder is checked at the start.
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

/** With these codes, a failed step on the way is the cause. */
const STOPPED_ON_THE_WAY: readonly ErrorCode[] = ["CONFIG_INVALID", "CONNECTION_FAILED", "ADDRESS_REFUSED", "TIMEOUT"];

/** The check to which an error of connecting belongs. */
export function findFailedCheck(
  { code }: NexusError,
  { kind, isNoisy, hasAnswered, brokenStep }: FailureEvidence,
): CheckId {
  if (kind === "stdio") return OF_PROCESS[code] ?? (code === "TIMEOUT" && isNoisy ? "stdout" : "protocol");
  if (kind === "api") return code === "CONFIG_INVALID" || code === "UNTRUSTED" ? "configuration" : "protocol";
  if (brokenStep !== undefined && STOPPED_ON_THE_WAY.includes(code)) return brokenStep;
  return OF_NETWORK[code] ?? (code === "TIMEOUT" && !hasAnswered ? "http" : "protocol");
}
