/** Receives log messages of the library. The library never prints, except failures of a server that has no logger. */
export interface Logger {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

/** The same logger without exceptions: a failing log must not cause a failure. */
export function safeLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger): Logger[keyof Logger] =>
    (message, data) => {
      try {
        logger[level](message, data);
      } catch {
        // The failure cannot be reported anywhere.
      }
    };
  return { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") };
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
