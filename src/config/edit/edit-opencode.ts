import { asText } from "../../text/as-text.ts";
import { parseDuration } from "../../text/duration.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";

/** An entry in the form that opencode reads. */
export function inOpencodeWords(entry: ServerEntry): Record<string, unknown> {
  const { command, args = [], env, url, timeout, connection_timeout: patience, ...others } = entry;
  const { type: _type, transport: _transport, ...rest } = others;
  const reach =
    command === undefined
      ? { type: "remote", url: url === undefined ? undefined : asText(url) }
      : { type: "local", command: [command, args].flat(), environment: env };
  const ofCalls = parseDuration(timeout);
  return {
    ...(withoutDollars(reach) as Record<string, unknown>),
    ...(withoutDollars(rest) as Record<string, unknown>),
    // In opencode this is the connection timeout.
    timeout: patience === undefined ? undefined : (parseDuration(patience) ?? patience),
    tool_timeout_sec: ofCalls === undefined ? undefined : ofCalls / 1_000,
  };
}

function withoutDollars(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replaceAll(
      /(?<!\$)\$\{(?:(file:[^{}]+?)|(?:env:)?([A-Za-z_]\w*))\}/g,
      (_all, file?: string, name?: string) => {
        return `{${file ?? `env:${name}`}}`;
      },
    );
  }
  if (Array.isArray(value)) return value.map(withoutDollars);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutDollars(item)]));
}
