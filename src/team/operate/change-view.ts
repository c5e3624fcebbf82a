import { definitionDifferences, type DefinitionDifference } from "../../host/definitions/definition-difference.ts";
import { nounOf } from "../../host/definitions/held-definition.ts";
import type { PendingDefinition } from "../../store/keep/definitions.ts";
import { isoTime } from "../../text/duration.ts";

/** What programs are told about a changed definition. */
export function changeView({ server, kind, name, what, since }: PendingDefinition) {
  return { server, kind: nounOf(kind), name, what, since: isoTime(since) };
}

/** The same with both definitions and what is different between them. */
export function changeDetails(pending: PendingDefinition) {
  const { accepted = null, current = null } = pending;
  return { ...changeView(pending), accepted, current, differences: differencesOf(pending) };
}

/** None for what was added or removed as a whole. */
export function differencesOf({ kind, accepted, current, what }: PendingDefinition): DefinitionDifference[] {
  if (what !== "changed") return [];
  return definitionDifferences(kind, accepted, current).map(({ place, what: how, before, after, pointer }) => ({
    place,
    what: how,
    before,
    after,
    pointer,
  }));
}
