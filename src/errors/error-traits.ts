import type { ErrorCode } from "./nexus-error.ts";

/** What follows from an error code, wherever it is met. A new code does not compile until all of it is decided. */
interface ErrorTraits {
  /**
   * What trying again leads to: another connection may work (`reconnect`), the server gives the same answer (`same`), or
   * one that cannot be read either (`unreadable`), the configuration has to change first (`reconfigure`), nothing is left
   * that could be tried (`over`). `unclear` where the code does not say.
   */
  again: "unclear" | "reconnect" | "same" | "unreadable" | "reconfigure" | "over";
  /** What was heard of the server: nothing at all, something that broke off, or the code does not say. */
  heard: "unclear" | "broken-off" | "nothing";
  /** Whether it would have failed the same way in either era of the protocol. */
  saysNothingAboutEra: boolean;
  /** Whether it helps people to know where the server is configured. */
  concernsServer: boolean;
}

const OTHER = { again: "unclear", heard: "unclear", saysNothingAboutEra: false, concernsServer: false } as const;
const SERVER = { ...OTHER, concernsServer: true } as const;
const EITHER_ERA = { ...OTHER, saysNothingAboutEra: true } as const;

export const TRAITS: Readonly<Record<ErrorCode, ErrorTraits>> = {
  CONFIG_INVALID: { ...EITHER_ERA, again: "reconfigure" },
  ARGUMENTS_INVALID: OTHER,
  COMMAND_NOT_FOUND: EITHER_ERA,
  PERMISSION_DENIED: EITHER_ERA,
  SERVER_EXITED: { again: "same", heard: "broken-off", saysNothingAboutEra: false, concernsServer: true },
  CONNECTION_FAILED: { again: "reconnect", heard: "nothing", saysNothingAboutEra: true, concernsServer: true },
  CONNECTION_LOST: { again: "reconnect", heard: "broken-off", saysNothingAboutEra: false, concernsServer: true },
  AUTH_REQUIRED: { ...SERVER, again: "same", saysNothingAboutEra: true },
  FORBIDDEN: { ...SERVER, again: "same", saysNothingAboutEra: true },
  HTTP_STATUS: SERVER,
  ADDRESS_REFUSED: EITHER_ERA,
  REDIRECT_REFUSED: { ...SERVER, saysNothingAboutEra: true },
  NOT_MCP: { ...SERVER, again: "unreadable" },
  PROTOCOL_VIOLATION: SERVER,
  VERSION_UNSUPPORTED: SERVER,
  MESSAGE_TOO_LARGE: { ...SERVER, again: "unreadable" },
  CAPABILITY_MISSING: OTHER,
  NAME_UNKNOWN: { ...OTHER, again: "reconfigure" },
  DENIED: { ...OTHER, again: "reconfigure" },
  UNTRUSTED: { ...OTHER, again: "reconfigure" },
  SERVER_ERROR: { ...OTHER, again: "same" },
  INPUT_FAILED: OTHER,
  TIMEOUT: { ...SERVER, heard: "broken-off" },
  CANCELLED: EITHER_ERA,
  CLOSED: { again: "over", heard: "nothing", saysNothingAboutEra: true, concernsServer: true },
  INTERNAL: OTHER,
};

export function saysNothingAboutEra(code: ErrorCode): boolean {
  return TRAITS[code].saysNothingAboutEra;
}

export function concernsServer(code: ErrorCode): boolean {
  return TRAITS[code].concernsServer;
}

/** Whether the connection failed, and not the request on it. */
export function isConnectionFailure(code: ErrorCode): boolean {
  return TRAITS[code].again === "reconnect";
}

/** Whether the server, asked again, would answer the same. */
export function isFinalAnswer(code: ErrorCode): boolean {
  const { again } = TRAITS[code];
  return again === "same" || again === "over";
}

/** Whether an answer of this server can never be read. */
export function isUnreadable(code: ErrorCode): boolean {
  return TRAITS[code].again === "unreadable";
}

/** Whether trying again is useless until the configuration changes. */
export function needsReconfiguration(code: ErrorCode): boolean {
  const { again } = TRAITS[code];
  return again === "reconfigure" || again === "over";
}

/** Whether a request was sent and its answer did not come. */
export function isBrokenOff(code: ErrorCode): boolean {
  return TRAITS[code].heard === "broken-off";
}

/** Whether a server that still answers does not cause it. */
export function isSilence(code: ErrorCode): boolean {
  return TRAITS[code].heard !== "unclear";
}
