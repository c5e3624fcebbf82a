/** Tags that pages leave open, and those of letters, which browsers close. */
const LEFT_OPEN = new Set(
  `a area b base big body br code col colgroup dd dt em embed font frame head hr html i img input li link meta nobr option p
  param s small source strike strong tbody td tfoot th thead tr track tt u wbr`.split(/\s+/),
);
const TAG = /^<(\/?)([A-Za-z][\w.:-]*)[\w .:-]{0,60}>$/;
/** In a word with a slash, or one blank after the slash. */
const IN_ADDRESS = /\/(?:\S*|[ \t])$/;
const LONGEST_WORD = 100;

/** The name in a tag that only opens, or only closes, and has no values. */
function nameIn(tag: string, isClosing: boolean): string | undefined {
  const [, slash, name] = TAG.exec(tag) ?? [];
  return (slash === "/") === isClosing ? name?.toLowerCase() : undefined;
}

/**
 * Whether a tag that nothing closes stands for a part of an address, as in `DELETE /orders/<id>`. A browser shows nothing
 * there, but without it the path would be that of another request. `before` is the text before it.
 */
export function isPartOfAddress(tag: string, before: string, closed: ReadonlySet<string>): boolean {
  const name = nameIn(tag, false);
  return (
    name !== undefined && !LEFT_OPEN.has(name) && !closed.has(name) && IN_ADDRESS.test(before.slice(-LONGEST_WORD))
  );
}

/** The names of the tags that are closed among these. */
export function closedIn(tags: readonly string[]): ReadonlySet<string> {
  return new Set(tags.flatMap((tag) => nameIn(tag, true) ?? []));
}
