import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { unknownName } from "./unknown-name.ts";

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/** A thing of a server that has a name: a tool or a prompt. */
interface Named {
  server: string;
  /** The prefix of its names, if it is not the server's id. */
  prefix?: string | undefined;
  name: string;
}

/**
 * The name of a tool for a model: `mcp__server__tool`, with at most 64 characters that every provider accepts. It
 * depends only on the server (its id or the prefix of its entry) and the tool, so that no other server can change it.
 * If characters had to be replaced, it contains a hash.
 */
export function modelName(server: string, name: string): string {
  const plain = `mcp__${server}__${name}`;
  const allowed = plain.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (allowed === plain && plain.length <= MAX_LENGTH) return plain;
  const hash = sha256(plain).slice(0, HASH_LENGTH);
  return `${allowed.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/**
 * Finds the thing with this name: `mcp__server__tool`, `server.tool` or `mcp:server.tool`. Names are compared, never
 * split.
 */
export function resolveName<T extends Named>(text: string, candidates: readonly T[], kind: "tool" | "prompt"): T {
  const plain = text.startsWith("mcp:") ? text.slice("mcp:".length) : text;
  const found = candidates.filter(
    ({ server, prefix = server, name }) =>
      plain === `${server}.${name}` || text === modelName(prefix, name) || text === modelName(server, name),
  );
  const [only, ...others] = found;
  if (!only) throw notFound(plain, candidates, kind);
  if (others.length === 0) return only;
  const names = found.map(({ server, name }) => `"${name}" of server "${server}"`).join(" and ");
  throw new NexusError("NAME_UNKNOWN", `"${text}" is ambiguous: ${names}`, {
    hint: "Use the full name that starts with mcp__.",
    mayHaveReached: false,
  });
}

function notFound(text: string, candidates: readonly Named[], kind: "tool" | "prompt"): NexusError {
  const near = nearestName(
    text,
    candidates.map(({ server, name }) => `${server}.${name}`),
  );
  const hint = near
    ? `Did you mean "${near}"?`
    : candidates.length > 0
      ? `List all ${candidates.length} to see their names.`
      : undefined;
  return unknownName(kind, text, { hint });
}
