import type { SchemaFacts } from "../documents/api-facts.ts";

const FIELD_LENGTH = 300;
/** The description of a field or type: shorter than in many documents, whose place the evidence names. */
export function fieldText({ description, title, deprecated, name }: Partial<SchemaFacts>): string | undefined {
  const said = cleanText(description ?? (name === undefined ? title : undefined) ?? "", FIELD_LENGTH);
  const text = deprecated ? `${said} (deprecated)`.trim() : said;
  return text === "" ? undefined : text;
}

/** Readable text of at most so many characters, cut after a sentence. HTML and control characters are left out. */
export function cleanText(text: string, most: number): string {
  const plain = text
    .slice(0, 20_000)
    .replaceAll(/\p{Cs}/gu, "")
    .replaceAll(/<(?:br|\/p|\/li|\/tr|\/h\d)\s*\/?>/gi, "\n")
    .replaceAll(
      /<\/?(?:p|b|i|a|em|strong|ul|ol|li|code|pre|span|div|h\d|table|thead|tbody|tr|td|th|img|details|summary)(?:\s[^<>]{0,500})?\/?>/gi,
      "",
    )
    .replaceAll(/&(?:nbsp|amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(UNSEEN, "")
    .replaceAll(/(?:[^\P{Cc}\n]|\ufeff)+/gu, " ")
    .replaceAll(/[\u2028\u2029]/g, "\n")
    .replaceAll(/ +/g, " ")
    .replaceAll(/ ?\n ?/g, "\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
  // Lines of a paragraph that were only wrapped become one.
  const joined = /^[#>|*-]|\n\s*[#>|*`0-9-]|```/m.test(plain) ? plain : plain.replaceAll(/(?<!\n)\n(?!\n)/g, " ");
  return cutAtSentence(joined, most);
}

/**
 * Characters that nobody sees, which hide words from reviewers or change the direction of the text: also fillers,
 * selectors of variants, and joiners where they join nothing.
 */
const UNSEEN =
  /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]|(?<=\p{ASCII})[\u200c\u200d]+|[\u200c\u200d]{2,}/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&nbsp;": " ",
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
};

function cutAtSentence(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "");
  const ends = [...head.matchAll(/[.!?](?=\s)|\n\n/g)];
  const last = ends.at(-1);
  if (last && last.index > most / 3) return head.slice(0, last.index + 1).trim();
  return `${head.replace(/\s+\S*$/, "")}…`;
}

/** A text as a template: braces mean themselves. */
export function asTemplate(text: string): string {
  return text.replaceAll(/[{}]/g, (brace) => brace + brace);
}
