import type { Endpoint } from "../endpoints/endpoints.ts";
import type { Scopes } from "../endpoints/scopes.ts";
import { plainText, type Outline, type PlacedBlock } from "../outline.ts";
import { looseName, withoutMarks } from "../words.ts";

/** What the manual calls an endpoint, and how its body is sent. */
interface SaidWords {
  id?: string;
  summary?: string;
  description?: string;
  mediaType?: "json" | "xml" | "form";
}

const GENERIC =
  /^(?:requests?|responses?|endpoints?|urls?|usage|examples?|overview|parameters?|api(?: reference)?|introduction|syntax|call|http request|resources?|method|description|anfrage|antwort|authentication)$/i;

/** `Orders bread for a day.`: short, but more than a label. */
const SHORT_SENTENCE = /^\p{Lu}\p{Ll}+(?: [\p{L}\d'-]+){2,}\.$/u;

/** A sentence about a failure says nothing about what the request is for. */
const FAILURE =
  /^(?:(?:it|this|the (?:call|request|server)) )?(?:returns?|answers?(?: with)?|responds? with) (?:an? |the )?(?:HTTP )?(?:status |error )?(?:code )?[45]\d\d\b/i;

/** The words for each endpoint: the title of its section, and the first sentences below. */
export function sayWords(outline: Outline, scopes: Scopes, endpoints: readonly Endpoint[]): Map<Endpoint, SaidWords> {
  const own = new Map<Endpoint, PlacedBlock[]>(endpoints.map((endpoint) => [endpoint, []]));
  const common: string[] = [];
  for (const placed of outline.blocks) {
    const owner = scopes.ownerOf(placed.index);
    if (owner) own.get(owner)?.push(placed);
    if ((placed.block.kind === "paragraph" || placed.block.kind === "item") && common.length < 500)
      common.push(placed.block.text.slice(0, 500));
  }
  const usual = mediaIn(common.join("\n"));
  const taken = new Map<string, number>();
  if (endpoints.length > 1) {
    for (const [first] of own.values()) {
      const title = first && titleFor(first, outline);
      if (title !== undefined) taken.set(title, (taken.get(title) ?? 0) + 1);
    }
  }
  return new Map(
    endpoints.map((endpoint) => [endpoint, wordsFor(outline, endpoint, own.get(endpoint) ?? [], usual, taken)]),
  );
}

function wordsFor(
  outline: Outline,
  endpoint: Endpoint,
  blocks: readonly PlacedBlock[],
  usual: SaidWords["mediaType"],
  taken: ReadonlyMap<string, number>,
): SaidWords {
  const [first] = blocks;
  const isListed = endpoint.action !== undefined && blocks.every(({ block }) => block.kind !== "heading");
  const title = isListed
    ? undefined
    : taken.size === 0 && endpoint.mentions[0]?.kind !== "heading"
      ? titleOfMention(outline, endpoint)
      : first && titleFor(first, outline);
  const name = endpoint.mentions.find((mention) => mention.name !== undefined)?.name ?? endpoint.action?.value;
  const heading = title === undefined || GENERIC.test(title) ? undefined : title;
  const shared = heading !== undefined && (taken.get(heading) ?? 0) > 1;
  const own = shared ? (endpoint.action?.value ?? leadBefore(outline, endpoint)) : undefined;
  const named = own ?? heading ?? name;
  const summary = named === undefined ? undefined : withoutMarks(named).slice(0, 100);
  const text = blocks
    .filter(({ block }) => block.kind === "paragraph")
    .slice(0, 6)
    .map(({ block }) => (block.kind === "paragraph" ? plainText(block.text) : ""))
    .find(
      (each) =>
        (each.length > 25 || SHORT_SENTENCE.test(each)) &&
        !FAILURE.test(each) &&
        !/^(?:GET|POST|PUT|PATCH|DELETE|HEAD)\b|^https?:\/\/\S+$|^(?:url|endpoint|example|beispiel|content-type|host)\b|\b(?:base|basis)[- ]?url\b|:$/i.test(
          each,
        ),
    );
  const purpose =
    endpoint.purpose === undefined || looseName(endpoint.purpose) === looseName(named ?? "")
      ? undefined
      : endpoint.purpose;
  const sentences = [purpose, text]
    .filter((each) => each !== undefined)
    .map((each) => withoutMarks(each).replace(/[.]?$/, "."));
  const description = [...new Set(sentences)].join(" ");
  const id = shared && named === heading ? undefined : idFrom(named);
  const said =
    mediaIn(
      blocks
        .map(({ block }) => (block.kind === "paragraph" || block.kind === "item" ? block.text.slice(0, 500) : ""))
        .join("\n"),
    ) ?? usual;
  return {
    ...(id === undefined ? {} : { id }),
    ...(summary === undefined || summary === "" ? {} : { summary }),
    ...(description === "" ? {} : { description: description.slice(0, 900) }),
    ...(said === undefined ? {} : { mediaType: said }),
  };
}

/**
 * `Get a job:` before the sample of the request, or `Search jobs` above the sentences before it, where the document does
 * not show that this is a heading.
 */
function leadBefore(outline: Outline, { mentions }: Endpoint): string | undefined {
  const at = mentions.find(({ isSubject }) => isSubject)?.index ?? 0;
  const own = outline.blocks[at];
  for (const placed of outline.blocks.slice(Math.max(0, at - 3), at).toReversed()) {
    const { block, section } = placed;
    if (section !== own?.section || (block.kind !== "paragraph" && block.kind !== "item")) return undefined;
    const text = plainText(block.text);
    const title = text.replace(/:$/, "");
    const isNext = placed.index === at - 1;
    if (title !== "" && title.split(" ").length <= 6 && !/[.!?;,]$/.test(title)) {
      return GENERIC.test(title) || (!isNext && (title !== text || !/^\p{Lu}/u.test(title))) ? undefined : title;
    }
    if (!/[.!?]$/.test(text)) return undefined;
  }
  return undefined;
}

function titleOfMention(outline: Outline, { mentions }: Endpoint): string | undefined {
  const mention = mentions.find(({ isSubject }) => isSubject) ?? mentions[0];
  const placed = mention && outline.blocks[mention.index];
  return placed && titleFor(placed, outline);
}

/** The innermost title that says something, without the request itself. */
function titleFor({ section }: PlacedBlock, _outline: Outline): string | undefined {
  for (let each: typeof section | undefined = section; each && each.level > 0; each = each.parent) {
    const title = each.title
      .replace(/\b(?:GET|POST|PUT|PATCH|DELETE|HEAD)\b\s*(?:https?:\/\/|\/)\S*/g, "")
      .replace(/[([](?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+[^\s()]+[)\]]$/, "")
      .replaceAll(/^[\s:–—)-]+|[\s:–—(-]+$/g, "")
      .replace(/^\(([^()]*)\)$/, "$1")
      .trim();
    if (title !== "" && !GENERIC.test(title) && !/^(?:sample|example)\b/i.test(title)) return title;
    if (title === "") return undefined;
  }
  return undefined;
}

/** `Create order` is a name for a tool; a sentence is not. */
function idFrom(title: string | undefined): string | undefined {
  const plain = title?.replaceAll(/\([^)]*\)/g, "").trim() ?? "";
  const words = plain.split(/\s+/).filter((word) => /\p{L}/u.test(word));
  const said = words.filter((word) => !/^(?:an?|the)$/i.test(word));
  return said.length === 0 || said.length > 6 || plain.length > 60 ? undefined : said.join(" ");
}

function mediaIn(text: string): SaidWords["mediaType"] {
  if (/application\/json/i.test(text)) return "json";
  if (/(?:application|text)\/xml/i.test(text)) return "xml";
  if (/x-www-form-urlencoded|\bform[- ]?(?:post|encoded|urlencoded)\b|\bform fields\b|HTTP form/i.test(text))
    return "form";
  if (
    /\b(?:body|request|payload|sent|data)\b[^.\n]{0,40}\bJSON\b|\bJSON\b[^.\n]{0,30}\b(?:body|object|payload)\b/i.test(
      text,
    )
  )
    return "json";
  return /\b(?:body|request|payload)\b[^.\n]{0,40}\bXML\b|\bXML\b[^.\n]{0,30}\b(?:body|document|payload)\b/i.test(text)
    ? "xml"
    : undefined;
}
