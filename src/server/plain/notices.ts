import { isRequestId, type Request } from "../../protocol/json-rpc.ts";
import { LOG_LEVELS, type LogLevel, type Progress } from "../../protocol/mcp.ts";
import type { Exchange } from "./call-context.ts";

/** Where nobody listens: whoever has something to say may leave it. */
export const UNHEARD = (): void => {};

/** Sends progress for a request whose client gave a token, and for no other. */
export function progressSender(request: Request, exchange: Exchange): (progress: Progress) => void {
  const meta = request.params?.["_meta"] as { progressToken?: unknown } | undefined;
  const progressToken = meta?.progressToken;
  if (!isRequestId(progressToken)) return UNHEARD;
  return (progress) => {
    exchange.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, ...progress } });
  };
}

/** Sends log messages from `wanted` upwards; none at all where the client wants none. */
export function logSender(
  wanted: LogLevel | undefined,
  exchange: Exchange,
): (level: LogLevel, data: unknown, logger?: string) => void {
  if (wanted === undefined) return UNHEARD;
  return (level, data, logger) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(wanted)) return;
    const params = { level, data, ...(logger === undefined ? {} : { logger }) };
    exchange.send({ jsonrpc: "2.0", method: "notifications/message", params });
  };
}

export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
