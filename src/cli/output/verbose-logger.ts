import type { Logger } from "../../text/logger.ts";
import type { Output } from "./output.ts";

/** Logs everything to stderr: lines for people, or lines of JSON for programs (`--json`, `--log json`). */
export function verboseLogger(out: Output): Logger {
  const writeAs =
    (level: string) =>
    (message: string, data: Record<string, unknown> = {}) =>
      // Data with a correlation id has no secrets; other data may contain a server's output.
      out.log(level, message, "correlationId" in data ? data : subjectIn(data, out.logsJson));
  return { debug: writeAs("debug"), info: writeAs("info"), warn: writeAs("warn"), error: writeAs("error") };
}

/** The tenant and the server that it is about. People read the name of the server in the message. */
function subjectIn(
  { tenant, server }: Readonly<Record<string, unknown>>,
  isJson: boolean,
): Record<string, unknown> | undefined {
  const subject = {
    ...(tenant === undefined ? {} : { tenant }),
    ...(isJson && server !== undefined ? { server } : {}),
  };
  return Object.keys(subject).length === 0 ? undefined : subject;
}
