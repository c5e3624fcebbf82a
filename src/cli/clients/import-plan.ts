import { isDeepStrictEqual } from "node:util";
import type { ImportedServer } from "../../config/import/import.ts";
import { isNexusEntry } from "../../config/nexus-entry.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { resolveEntry } from "../../transport/server-entry.ts";

/** A server that is not imported, and why. */
interface Skipped {
  server: ImportedServer;
  reason: string;
  /** Whether that is no problem, because the same server already exists. */
  harmless: boolean;
}

export interface ImportPlan {
  take: ImportedServer[];
  skip: Skipped[];
}

export interface ImportWish {
  /** Empty: all. */
  names: readonly string[];
  /** The entries of the target file, by id. */
  present: ReadonlyMap<string, unknown>;
  replace: boolean;
  /**
   * The scope of the target file. A project's servers were written by others, so the user's file gets them only by
   * name.
   */
  scope: ImportedServer["scope"];
  /** The working folder: servers of other folders are imported only by name. */
  folder: string;
}

/** The servers for the target file: one for each id, without existing ones. */
export function planImport(found: readonly ImportedServer[], wish: ImportWish): ImportPlan {
  const plan: ImportPlan = { take: [], skip: [] };
  for (const server of wanted(found, wish)) {
    const skipped = reasonToSkip(server, plan, wish);
    if (skipped) plan.skip.push({ server, ...skipped });
    else plan.take.push(server);
  }
  return plan;
}

function wanted(found: readonly ImportedServer[], { names, scope, folder }: ImportWish): ImportedServer[] {
  if (names.length === 0) {
    const isHere = ({ project }: ImportedServer) => project === undefined || project === folder;
    return found.filter((server) => server.scope === scope && isHere(server));
  }
  return names.flatMap((name) => {
    const called = found.filter((server) => server.id === name || server.name === name);
    if (called.length > 0) return called;
    const ids = [...new Set(found.map(({ id }) => id))];
    const near = nearestName(name, ids);
    const known = ids.length === 0 ? "No servers of other programs were found." : `Available: ${ids.join(", ")}.`;
    throw new NexusError("NAME_UNKNOWN", `No other program has a server "${name}"`, {
      hint: near === undefined ? known : `Did you mean "${near}"? ${known}`,
      mayHaveReached: false,
    });
  });
}

function reasonToSkip(
  { id, name, entry }: ImportedServer,
  { take }: ImportPlan,
  { present, replace }: ImportWish,
): Omit<Skipped, "server"> | undefined {
  if (isNexusEntry(name, entry)) {
    return { reason: "it is Nexus itself, which would start itself in a loop", harmless: false };
  }
  const chosen = take.find((other) => other.id === id);
  if (chosen) {
    const isSame = isDeepStrictEqual(chosen.entry, entry);
    const reason = isSame
      ? `identical to the entry of ${chosen.client}`
      : `the entry of ${chosen.client} is used; choose another with --from`;
    return { reason, harmless: isSame };
  }
  if (isDeepStrictEqual(present.get(id), entry)) return { reason: "is already configured", harmless: true };
  if (present.has(id) && !replace) {
    return { reason: "another server has this name; --force replaces it", harmless: false };
  }
  try {
    resolveEntry({ ...entry, id });
    return undefined;
  } catch (error) {
    return { reason: messageOf(error), harmless: false };
  }
}
