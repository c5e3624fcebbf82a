import type { VersionChangeKind } from "../../../workshop/publish/version-number.ts";
import { pluralize } from "../../output/amounts.ts";

const MEANINGS: Readonly<Record<VersionChangeKind, string>> = {
  breaking: "breaking: calls or results of version %s may not work any more",
  widened: "widened: more is possible, and calls of version %s mean the same",
  wording: "wording: only texts and documents differ from version %s",
  none: "none: the same as version %s",
};

/** The kind of a change in words, and how many there are. */
export function changeText(
  kind: VersionChangeKind,
  since: string,
  changes: readonly { readonly means?: unknown }[],
): string {
  const count = changes.filter(({ means }) => means === kind).length;
  const amount = count === 0 ? "" : ` (${pluralize(count, "change")})`;
  return `${MEANINGS[kind].replace("%s", since)}${amount}`;
}
