import { nearestName, nearNames } from "../../text/nearest-name.ts";
import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";

/** Maximum number of names in a message. */
const MAX_LISTED = 8;
/** A longer name is not a typing error. */
const MAX_SHOWN = 128;

type NamedKind = "server" | "tool" | "prompt" | "resource" | "template" | "set";

/** The error for an unknown name. */
export function unknownName(kind: NamedKind, name: string, details: ErrorDetails = {}): NexusError {
  return new NexusError("NAME_UNKNOWN", `There is no ${kind} "${name}"`, { mayHaveReached: false, ...details });
}

/** The same with the nearest name in the message, for callers that see only the message. */
export function unknownNameWithAdvice(kind: NamedKind, name: string, candidates: readonly string[]): NexusError {
  if (name.length > MAX_SHOWN) return unknownName(kind, `${name.slice(0, MAX_SHOWN)}…`);
  const others = candidates.filter((candidate) => candidate !== name);
  const near = nearestName(name, others);
  const { code, message, details } = unknownName(kind, name);
  return new NexusError(code, near === undefined ? message : `${message}. Did you mean "${near}"?`, details);
}

interface Advice {
  /** The ids that may have been meant; default: the nearest ones. */
  near?: readonly string[] | undefined;
  /** The hint if there are no servers. */
  none?: string | undefined;
}

export function unknownServer(
  name: string,
  ids: readonly string[],
  { near = nearNames(name, ids, 3), none = "No servers are configured." }: Advice = {},
): NexusError {
  const known = ids.length === 0 ? none : listedServers(ids);
  const meant = near.map((id) => `"${id}"`).join(" or ");
  return unknownName("server", name, {
    server: name,
    hint: meant === "" ? known : `Did you mean ${meant}? ${known}`,
  });
}

/** The configured servers, for messages. */
export function listedServers(ids: readonly string[]): string {
  const more = ids.length > MAX_LISTED ? ` and ${ids.length - MAX_LISTED} more` : "";
  return `Configured: ${ids.slice(0, MAX_LISTED).join(", ")}${more}.`;
}
