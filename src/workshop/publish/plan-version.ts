import { NexusError } from "../../errors/nexus-error.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { VersionRecord } from "./published.ts";
import { changeBetween, type VersionChange, type VersionedChange } from "./version-change.ts";
import { compareVersions, isVersionNumber, majorOf, nextVersion } from "./version-number.ts";

/** The versions of an API that exist. */
interface KnownVersions {
  /** The lowest first. */
  records: readonly VersionRecord[];
  /** All numbers that are taken, the lowest first, also those of versions that cannot be read. */
  numbers: readonly string[];
  load: (version: string) => Promise<CompiledApi | undefined>;
}

/** The number that a version gets, and what it changes. */
export interface PlannedVersion {
  version: string;
  /** False: this content is published with this number already. */
  isNew: boolean;
  /** Undefined for the first version. */
  since?: string | undefined;
  change?: VersionChange | undefined;
}

/**
 * Chooses the number of a version, or checks the one that is asked for: a breaking change needs a new major number, more
 * possibilities at least a new minor one. Without a wish, a number in the tool file that was changed and is higher than all
 * others counts; otherwise the next one is taken, but never a new major number.
 */
export async function planVersion(api: CompiledApi, known: KnownVersions, as?: string): Promise<PlannedVersion> {
  const name = api.file.api;
  if (as !== undefined && !isVersionNumber(as)) throw notANumber(as);
  const same = known.records.findLast(({ hash }) => hash === api.hash);
  if (same && (as === undefined || as === same.version)) return { version: same.version, isNew: false };
  if (same) throw alreadyPublished(name, same.version);
  const newest = known.numbers.at(-1);
  const inFile = isVersionNumber(api.file.version) ? api.file.version : undefined;
  if (newest === undefined) return { version: as ?? inFile ?? "1.0.0", isNew: true };
  // A number that somebody has changed; drafts have that of the API's description.
  const isChanged = known.records.at(-1)?.approval.version !== api.file.version;
  const isHigher = inFile !== undefined && compareVersions(inFile, newest) > 0;
  const wanted = as ?? (isHigher && isChanged ? inFile : undefined);
  const ofMajor = known.numbers.filter((each) => majorOf(each) === majorOf(wanted ?? newest));
  const highest = ofMajor.at(-1);
  if (wanted !== undefined && highest !== undefined && compareVersions(wanted, highest) <= 0) {
    throw tooLow(name, wanted, highest);
  }
  // Only versions that exist are continued: a lower number would be served to nobody, and its content stays taken.
  if (wanted !== undefined && highest === undefined && compareVersions(wanted, newest) < 0) {
    throw tooLow(name, wanted, newest);
  }
  const since = highest ?? newest;
  const before = await known.load(since);
  // Nothing is known about one that is damaged, so nothing is assumed about it.
  const change: VersionChange = before ? changeBetween(before, api) : { kind: "breaking", changes: [] };
  if (wanted !== undefined && highest === undefined) return { version: wanted, isNew: true, since, change };
  if (change.kind === "breaking") throw breaking(name, { since, next: `${majorOf(newest) + 1}.0.0`, change });
  const least = nextVersion(since, change.kind);
  if (wanted !== undefined && compareVersions(wanted, least) < 0) throw tooSmall(name, { wanted, since, least });
  return { version: wanted ?? least, isNew: true, since, change };
}

const MOST_SHOWN = 5;

/** `types.Order.fields.total: is gone`, each on its own line. */
function listed(changes: readonly VersionedChange[]): string {
  const all = changes.filter(({ means }) => means === "breaking");
  const lines = all.slice(0, MOST_SHOWN).map(({ path, message }) => `\n  ${path}: ${message}`);
  const more = all.length > MOST_SHOWN ? `\n  and ${all.length - MOST_SHOWN} more` : "";
  return `${lines.join("")}${more}`;
}

function breaking(api: string, of: { since: string; next: string; change: VersionChange }): NexusError {
  const { since, next, change } = of;
  return refusal(
    `This version of "${api}" breaks calls that version ${since} accepts, or results that it gives:${listed(change.changes)}`,
    `Publish it with a new major number: --as ${next}. Version ${since} keeps its own address, so its callers go on.`,
  );
}

function tooSmall(api: string, { wanted, since, least }: { wanted: string; since: string; least: string }): NexusError {
  return refusal(
    `Version ${wanted} of "${api}" allows more than version ${since}, so its number is too low`,
    `Use --as ${least}, or leave --as out.`,
  );
}

function tooLow(api: string, wanted: string, highest: string): NexusError {
  return refusal(
    wanted === highest
      ? `Version ${wanted} of "${api}" is published with other content`
      : `"${api}" has version ${highest}, which is higher than ${wanted}`,
    "A published version never changes. Leave --as out, or use a higher number.",
  );
}

function alreadyPublished(api: string, version: string): NexusError {
  return refusal(
    `This content of "${api}" is already published as version ${version}`,
    `Leave --as out to serve version ${version}.`,
  );
}

function notANumber(text: string): NexusError {
  return refusal(
    `"${text}" is not a version number`,
    "Use three numbers without a label, as in 1.4.0. Each is below 1000000000.",
  );
}

function refusal(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}
