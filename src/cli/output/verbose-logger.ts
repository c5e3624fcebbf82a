import type { Logger } from "../../text/logger.ts";
import type { Output } from "./output.ts";

/** Logs everything to stderr: lines for people, lines of JSON for programs (`--json`). */
export function verboseLogger(out: Output): Logger {
  const writeAs =
    (level: string) =>
    (message: string, data: Record<string, unknown> = {}) =>
      // Data with a correlation id has no secrets; other data may contain a server's output.
      out.log(level, message, "correlationId" in data ? data : tenantIn(data));
  return { debug: writeAs("debug"), info: writeAs("info"), warn: writeAs("warn"), error: writeAs("error") };
}

/** Whose entry it is, where tenants are told apart. */
function tenantIn({ tenant }: Readonly<Record<string, unknown>>): { tenant: unknown } | undefined {
  return tenant === undefined ? undefined : { tenant };
}
