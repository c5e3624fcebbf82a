import { quote, type Citation } from "../compile/citations.ts";
import { changeOf, type ApiChange } from "./api-change.ts";

type Citations = Readonly<Record<string, Citation>>;

/** Citations that are new or whose lines changed: callers can read these lines and the headings above them. */
export function citedChanges(
  before: Citations,
  after: Citations,
  documents: Readonly<Record<string, string>>,
): ApiChange[] {
  const fresh = Object.entries(after).filter(([evidence, { sha256, heading }]) => {
    const old = Object.hasOwn(before, evidence) ? before[evidence] : undefined;
    return old?.sha256 !== sha256 || old.heading !== heading;
  });
  const names = [...new Set(fresh.map(([, { document }]) => document))];
  return names.map((name) => {
    const cited = fresh.filter(([, { document }]) => document === name);
    const headings = [...new Set(cited.map(([, { heading }]) => heading))];
    const text = documents[name];
    // Without the text, only the line numbers can be shown.
    const shown = text === undefined ? Object.fromEntries(cited) : { headings, lines: linesOf(text, cited) };
    const message = `${cited.length} cited ${cited.length === 1 ? "part is" : "parts are"} new or changed`;
    return changeOf({ kind: "document changed", path: `documents.${name}`, message }, [undefined, shown]);
  });
}

/** Each line once, by its number. */
function linesOf(text: string, cited: readonly (readonly [string, Citation])[]): Record<string, string> {
  const numbers = cited.flatMap(([, { from, to }]) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
  );
  const unique = [...new Set(numbers)].sort((a, b) => a - b);
  return Object.fromEntries(unique.map((number) => [`L${number}`, quote(text, { from: number, to: number })]));
}
