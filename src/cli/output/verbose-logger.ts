import type { Logger } from "../../text/logger.ts";
import type { Output } from "./output.ts";

/** Reports everything beside the result, to people in lines, to programs (`--json`) in lines of JSON. */
export function verboseLogger(out: Output): Logger {
  const writeAs =
    (level: string) =>
    (message: string, data: Record<string, unknown> = {}) =>
      // Data of a call with an id are without secrets; what others come with may be the words of a server.
      out.log(level, message, "correlationId" in data ? data : undefined);
  return { debug: writeAs("debug"), info: writeAs("info"), warn: writeAs("warn"), error: writeAs("error") };
}
