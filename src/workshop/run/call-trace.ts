import { randomUUID } from "node:crypto";
import { SILENT, type Logger } from "../../client/logger.ts";
import type { LogLevel, Progress } from "../../protocol/mcp.ts";
import type { Redaction } from "./redaction.ts";

type Level = "debug" | "info" | "warn" | "error";

const MCP_LEVELS: Record<Level, LogLevel> = { debug: "debug", info: "info", warn: "warning", error: "error" };

export interface CallTraceOptions {
  api: string;
  tool: string;
  logger: Logger;
  redaction: Redaction;
  progress?: ((progress: Progress) => void) | undefined;
  log?: ((level: LogLevel, data: unknown, logger?: string) => void) | undefined;
}

/** What is told of one call while it runs, under one id: to the log of whoever serves, and to whoever called. */
export class CallTrace {
  readonly correlation = `nx-${randomUUID().replaceAll("-", "").slice(0, 16)}`;
  readonly #options: CallTraceOptions;
  #told = -1;

  constructor(options: CallTraceOptions) {
    this.#options = options;
  }

  /** How far it is, from 0 to 1. Only what is further than before is told: progress never stands still or goes back. */
  reached(share: number, message: string): void {
    if (share <= this.#told) return;
    this.#told = share;
    this.#options.progress?.({ progress: share, total: 1, message: this.#options.redaction.in(message) });
  }

  note(level: Level, message: string, data: Record<string, unknown> = {}): void {
    const { api, tool, logger, redaction, log } = this.#options;
    if (logger === SILENT && !log) return;
    const shown = redaction.inAll({ correlation: this.correlation, tool, ...data }) as Record<string, unknown>;
    const text = redaction.in(message);
    logger[level](text, { api, ...shown });
    log?.(MCP_LEVELS[level], { message: text, ...shown }, api);
  }
}
