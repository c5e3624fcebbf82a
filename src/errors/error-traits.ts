import type { ErrorCode } from "./nexus-error.ts";

/** What follows from an error code. A new code does not compile until all of it is decided. */
interface ErrorTraits {
  /**
   * What a repetition leads to: a new connection may work (`reconnect`), the server gives the same answer (`same`), the
   * answer would again be unreadable (`unreadable`), the configuration has to change first (`reconfigure`), nothing can
   * be tried (`over`). `unclear` if the code does not say.
   */
  onRepeat: "unclear" | "reconnect" | "same" | "unreadable" | "reconfigure" | "over";
  /** How far the server answered: not at all, its answer was lost, or the code does not say. */
  answer: "unclear" | "lost" | "none";
  /** Whether the error would be the same in either era of the protocol. */
  saysNothingAboutEra: boolean;
  /** Whether the place of the server's configuration helps people. */
  concernsServer: boolean;
}

const OTHER = { onRepeat: "unclear", answer: "unclear", saysNothingAboutEra: false, concernsServer: false } as const;
const SERVER = { ...OTHER, concernsServer: true } as const;
const EITHER_ERA = { ...OTHER, saysNothingAboutEra: true } as const;

export const TRAITS: Readonly<Record<ErrorCode, ErrorTraits>> = {
  CONFIG_INVALID: { ...EITHER_ERA, onRepeat: "reconfigure" },
  ARGUMENTS_INVALID: OTHER,
  COMMAND_NOT_FOUND: EITHER_ERA,
  PERMISSION_DENIED: EITHER_ERA,
  SERVER_EXITED: { onRepeat: "same", answer: "lost", saysNothingAboutEra: false, concernsServer: true },
  CONNECTION_FAILED: { onRepeat: "reconnect", answer: "none", saysNothingAboutEra: true, concernsServer: true },
  CONNECTION_LOST: { onRepeat: "reconnect", answer: "lost", saysNothingAboutEra: false, concernsServer: true },
  AUTH_REQUIRED: { ...SERVER, onRepeat: "same", saysNothingAboutEra: true },
  FORBIDDEN: { ...SERVER, onRepeat: "same", saysNothingAboutEra: true },
  HTTP_STATUS: SERVER,
  ADDRESS_REFUSED: EITHER_ERA,
  REDIRECT_REFUSED: { ...SERVER, saysNothingAboutEra: true },
  NOT_MCP: { ...SERVER, onRepeat: "unreadable" },
  PROTOCOL_VIOLATION: SERVER,
  VERSION_UNSUPPORTED: SERVER,
  MESSAGE_TOO_LARGE: { ...SERVER, onRepeat: "unreadable" },
  CAPABILITY_MISSING: OTHER,
  NAME_UNKNOWN: { ...OTHER, onRepeat: "reconfigure" },
  DEFINITION_CHANGED: { ...OTHER, onRepeat: "reconfigure" },
  DENIED: { ...OTHER, onRepeat: "reconfigure" },
  UNTRUSTED: { ...OTHER, onRepeat: "reconfigure" },
  SERVER_ERROR: { ...OTHER, onRepeat: "same" },
  INPUT_FAILED: OTHER,
  TIMEOUT: { ...SERVER, answer: "lost" },
  BUSY: EITHER_ERA,
  RATE_LIMITED: EITHER_ERA,
  CANCELLED: EITHER_ERA,
  CLOSED: { onRepeat: "over", answer: "none", saysNothingAboutEra: true, concernsServer: true },
  STORE_UNAVAILABLE: { ...EITHER_ERA, onRepeat: "reconnect" },
  DATA_DAMAGED: { ...EITHER_ERA, onRepeat: "reconfigure" },
  INTERNAL: OTHER,
};

export function saysNothingAboutEra(code: ErrorCode): boolean {
  return TRAITS[code].saysNothingAboutEra;
}

export function concernsServer(code: ErrorCode): boolean {
  return TRAITS[code].concernsServer;
}

/** Whether the connection failed, not the request on it. */
export function isConnectionFailure(code: ErrorCode): boolean {
  return TRAITS[code].onRepeat === "reconnect";
}

/** Whether the server would give the same answer again. */
export function isFinalAnswer(code: ErrorCode): boolean {
  const { onRepeat } = TRAITS[code];
  return onRepeat === "same" || onRepeat === "over";
}

/** Whether the server's answers can never be read. */
export function isUnreadable(code: ErrorCode): boolean {
  return TRAITS[code].onRepeat === "unreadable";
}

/** Whether repeating is useless until the configuration changes. */
export function needsReconfiguration(code: ErrorCode): boolean {
  const { onRepeat } = TRAITS[code];
  return onRepeat === "reconfigure" || onRepeat === "over";
}

/** Whether a request was sent and its answer was lost. */
export function isAnswerLost(code: ErrorCode): boolean {
  return TRAITS[code].answer === "lost";
}

/** Whether the server did not answer, or its answer was lost. */
export function isUnanswered(code: ErrorCode): boolean {
  return TRAITS[code].answer !== "unclear";
}

/** Statuses of a server or proxy that cannot answer for now: the same request is worth a retry. */
const WORTH_A_RETRY: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export function isWorthARetry(status: number): boolean {
  return WORTH_A_RETRY.has(status);
}

/** Whether a status says how the server is now, and nothing about the request: a later answer may be another one. */
export function isTemporaryStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
