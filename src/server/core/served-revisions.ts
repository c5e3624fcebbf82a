import {
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  type LegacyRevision,
  type ModernRevision,
  type Revision,
} from "../../protocol/revisions.ts";
import type { Core } from "./core.ts";

/** The revisions that a core serves, by era, the newest first. */
export interface ServedRevisions {
  modern: readonly ModernRevision[];
  legacy: readonly LegacyRevision[];
}

const ALL: ServedRevisions = { modern: MODERN_REVISIONS, legacy: LEGACY_REVISIONS };
const known = new WeakMap<readonly Revision[], ServedRevisions>();

/** Asked with every message. */
export function servedRevisions({ revisions }: Core): ServedRevisions {
  if (!revisions) return ALL;
  const found = known.get(revisions) ?? byEra(revisions);
  known.set(revisions, found);
  return found;
}

function byEra(revisions: readonly Revision[]): ServedRevisions {
  return {
    modern: MODERN_REVISIONS.filter((revision) => revisions.includes(revision)),
    legacy: LEGACY_REVISIONS.filter((revision) => revisions.includes(revision)),
  };
}
