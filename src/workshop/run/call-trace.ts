import { SILENT, type Logger } from "../../text/logger.ts";
import type { LogLevel, Progress } from "../../protocol/mcp.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";

type Level = "debug" | "info" | "warn" | "error";

const MCP_LEVELS: Record<Level, LogLevel> = { debug: "debug", info: "info", warn: "warning", error: "error" };

interface CallTraceOptions {
  api: string;
  tool: string;
  logger: Logger;
  hidden: HiddenValues;
  /** Identifies the call. */
  correlation: string;
  progress?: ((progress: Progress) => void) | undefined;
  log?: ((level: LogLevel, data: unknown, logger?: string) => void) | undefined;
}

/** Reports the progress and the steps of a call. */
export type Tracing = Pick<CallTrace, "correlation" | "reached" | "note">;

/** Reports of one call under one id: to the log of the server, and to the caller. */
export class CallTrace {
  readonly correlation: string;
  readonly #options: CallTraceOptions;
  #told = -1;

  constructor(options: CallTraceOptions) {
    this.correlation = options.correlation;
    this.#options = options;
  }

  /** The progress from 0 to 1. Only an increase is reported: progress must never stand still or go back. */
  reached(exactly: number, message: string): void {
    const { progress, hidden } = this.#options;
    if (!progress) return;
    const share = Math.round(exactly * 100) / 100;
    if (share <= this.#told) return;
    this.#told = share;
    progress({ progress: share, total: 1, message: hidden.inOwnWords(message) });
  }

  /** A part of the same call, mapped to a range of its progress; `about` is in all its notes. */
  part(from: number, to: number, about: Record<string, unknown> = {}): Tracing {
    return {
      correlation: this.correlation,
      reached: (share, message) => this.reached(from + share * (to - from), message),
      note: (level, message, data) => this.note(level, message, { ...about, ...data }),
    };
  }

  note(level: Level, message: string, data: Record<string, unknown> = {}): void {
    const { api, tool, logger, hidden, log } = this.#options;
    if (logger === SILENT && !log) return;
    const shown = hidden.inAll({ correlationId: this.correlation, tool, ...data }) as Record<string, unknown>;
    const text = hidden.inOwnWords(message);
    logger[level](text, { api, ...shown });
    log?.(MCP_LEVELS[level], { message: text, ...shown }, api);
  }
}
