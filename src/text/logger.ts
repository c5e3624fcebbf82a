/** Receives log messages of the library. The library never prints, except failures of a server that has no logger. */
export interface Logger {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The same logger without exceptions: a failing log must not cause a failure. */
export function safeLogger(logger: Logger): Logger {
  return wrapped(logger, (level) => (message, data) => {
    try {
      logger[level](message, data);
    } catch {
      // The failure cannot be reported anywhere.
    }
  });
}

/** The same logger with fields in each message, such as the tenant or the server that all of them are about. */
export function childLogger(logger: Logger, fields: Readonly<Record<string, unknown>>): Logger {
  return wrapped(logger, (level) => (message, data) => logger[level](message, { ...fields, ...data }));
}

/** The same logger without the levels below this one. */
export function loggerFrom(logger: Logger, lowest: keyof Logger): Logger {
  const first = LEVELS.indexOf(lowest);
  const at = (level: keyof Logger) => (LEVELS.indexOf(level) < first ? SILENT[level] : logger[level]);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

const LEVELS: readonly (keyof Logger)[] = ["debug", "info", "warn", "error"];

/** Whether messages of this level are written, as far as a logger says so: by methods of `SILENT` where they are not. */
export function isWritten(logger: Logger, level: keyof Logger): boolean {
  return logger[level] !== SILENT[level];
}

function wrapped(logger: Logger, wrap: (level: keyof Logger) => Logger[keyof Logger]): Logger {
  const at = (level: keyof Logger) => (isWritten(logger, level) ? wrap(level) : SILENT[level]);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
