import { SILENT, type Logger } from "../../text/logger.ts";
import { visible } from "../../text/visible.ts";

/** For servers without a logger: a failure that their clients are not told about is one line on stderr. */
export const STDERR_LOGGER: Logger = {
  ...SILENT,
  error: (message) => void process.stderr.write(`${visible(message)}\n`),
};
