import type { Evidence } from "../../api-facts.ts";

const LINES = /^(.*#L)(\d+)(?:-L(\d+))?$/;

/** Places of which those that follow each other are one: `doc#L404`, `doc#L405` are `doc#L404-L405`. The first stays. */
export function joinLines(all: readonly Evidence[]): Evidence[] {
  const [first, ...others] = all;
  if (first === undefined) return [];
  const joined: { prefix: string; from: number; to: number }[] = [];
  const rest: Evidence[] = [];
  for (const evidence of others) {
    const found = LINES.exec(evidence);
    if (!found) {
      if (!rest.includes(evidence)) rest.push(evidence);
      continue;
    }
    const [, prefix = "", from = "", to = from] = found;
    const last = joined.find(
      (each) => each.prefix === prefix && Number(from) >= each.from && Number(from) <= each.to + 1,
    );
    if (last) last.to = Math.max(last.to, Number(to));
    else joined.push({ prefix, from: Number(from), to: Number(to) });
  }
  return [
    first,
    ...joined.map(({ prefix, from, to }) => (from === to ? `${prefix}${from}` : `${prefix}${from}-L${to}`)),
    ...rest,
  ].filter((each, index, list) => list.indexOf(each) === index);
}
