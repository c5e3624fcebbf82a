import { nearestName } from "../../../text/nearest-name.ts";
import { oneOf } from "../../../format/part.ts";
import type { Path, Problems } from "../../../format/problem.ts";

/** At most this many names are listed in a hint. */
const MAX_LISTED = 20;

/** Whether a name is given and known; an unknown one is reported. */
export function refer(
  name: string | undefined,
  known: readonly string[],
  what: string,
  path: Path,
  problems: Problems,
): boolean {
  if (name === undefined || name === "" || known.includes(name)) return name !== undefined && name !== "";
  const meant = nearestName(name, known);
  const others = known.length > 0 && known.length <= MAX_LISTED ? `There is ${oneOf(known)}.` : undefined;
  problems.error(path, `there is no ${what} "${name}"`, meant ? `Did you mean "${meant}"?` : others);
  return false;
}
