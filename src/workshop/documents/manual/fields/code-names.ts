import type { SchemaFacts } from "../../api-facts.ts";
import type { FieldCode } from "./field-node.ts";

/** Readable names for codes: `half_board` for `Half board`. Each name is there once. */
export function codeNames(codes: readonly FieldCode[]): NonNullable<SchemaFacts["codes"]> {
  const taken = new Set<string>();
  return codes.map(({ value, meaning, evidence }) => {
    const short = nameOf(shortMeaning(meaning));
    const long = nameOf(meaning);
    const name =
      [short, long, `${short}_${nameOf(value)}`, `code_${nameOf(value)}`].find(
        (each) => /^[a-z]/.test(each) && !taken.has(each),
      ) ?? `code_${value}`;
    taken.add(name);
    return { value, name, ...(meaning === name || meaning === "" ? {} : { description: meaning }), evidence };
  });
}

/** What is before an alternative, a remark or the end of the first sentence. */
function shortMeaning(meaning: string): string {
  const [first = meaning] = meaning.split(
    /\s+(?:or|oder|up to|bis zu|e\.g\.|i\.e\.|which|that|when|if|because|with no|–|—|-)\s|[.,;:(/](?:\s|$|\S)|\s\(/,
  );
  return first.split(/\s+/).length <= 5 ? first : first.split(/\s+/).slice(0, 5).join(" ");
}

function nameOf(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, 48);
}
