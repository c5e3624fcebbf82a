import { isWritten, SILENT, type Logger } from "../text/logger.ts";
import type { HiddenValues } from "./hidden-values.ts";

/** The same logger with the values masked in its messages. */
export function maskedLogger(logger: Logger, hidden: HiddenValues): Logger {
  const at = (level: keyof Logger): Logger[keyof Logger] =>
    isWritten(logger, level) ? (message, data) => logger[level](hidden.in(message), data) : SILENT[level];
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
