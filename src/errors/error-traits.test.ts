import { expect, test } from "vitest";
import {
  concernsServer,
  isAnswerLost,
  isConnectionFailure,
  isFinalAnswer,
  isTemporaryStatus,
  isUnanswered,
  isUnreadable,
  isWorthARetry,
  needsReconfiguration,
  saysNothingAboutEra,
  TRAITS,
} from "./error-traits.ts";
import type { ErrorCode } from "./nexus-error.ts";

const those = (has: (code: ErrorCode) => boolean) => (Object.keys(TRAITS) as ErrorCode[]).filter(has);

test("an error code says whether a repetition can succeed", () => {
  expect(those(isConnectionFailure)).toEqual(["CONNECTION_FAILED", "CONNECTION_LOST", "STORE_UNAVAILABLE"]);
  expect(those(isFinalAnswer)).toEqual(["SERVER_EXITED", "AUTH_REQUIRED", "FORBIDDEN", "SERVER_ERROR", "CLOSED"]);
  expect(those(isUnreadable)).toEqual(["NOT_MCP", "MESSAGE_TOO_LARGE"]);
  expect(those(needsReconfiguration)).toEqual([
    "CONFIG_INVALID",
    "NAME_UNKNOWN",
    "DEFINITION_CHANGED",
    "DENIED",
    "UNTRUSTED",
    "CLOSED",
    "DATA_DAMAGED",
  ]);
});

test("a status says whether the same request is worth a retry, and whether it is about the server alone", () => {
  const statuses = [400, 401, 404, 408, 409, 429, 500, 501, 502, 503, 504, 508];
  expect(statuses.filter(isWorthARetry)).toEqual([429, 500, 502, 503, 504]);
  expect(statuses.filter(isTemporaryStatus)).toEqual([408, 429, 500, 501, 502, 503, 504, 508]);
});

test("an error code says whether the server answered", () => {
  expect(those(isAnswerLost)).toEqual(["SERVER_EXITED", "CONNECTION_LOST", "TIMEOUT"]);
  expect(those(isUnanswered)).toEqual(["SERVER_EXITED", "CONNECTION_FAILED", "CONNECTION_LOST", "TIMEOUT", "CLOSED"]);
});

test("failures before a request is sent, and refusals such as 401, say nothing about the era of a server", () => {
  expect(those(saysNothingAboutEra)).toEqual([
    "CONFIG_INVALID",
    "COMMAND_NOT_FOUND",
    "PERMISSION_DENIED",
    "CONNECTION_FAILED",
    "AUTH_REQUIRED",
    "FORBIDDEN",
    "ADDRESS_REFUSED",
    "REDIRECT_REFUSED",
    "BUSY",
    "RATE_LIMITED",
    "CANCELLED",
    "CLOSED",
    "STORE_UNAVAILABLE",
    "DATA_DAMAGED",
  ]);
});

test("the entry of a server is shown with failures that the server may have caused", () => {
  expect(those(concernsServer)).toEqual([
    "SERVER_EXITED",
    "CONNECTION_FAILED",
    "CONNECTION_LOST",
    "AUTH_REQUIRED",
    "FORBIDDEN",
    "HTTP_STATUS",
    "REDIRECT_REFUSED",
    "NOT_MCP",
    "PROTOCOL_VIOLATION",
    "VERSION_UNSUPPORTED",
    "MESSAGE_TOO_LARGE",
    "TIMEOUT",
    "CLOSED",
  ]);
});
