import type { Endpoint } from "./endpoints/endpoints.ts";
import { leadOf, plainText, type Outline, type PlacedBlock } from "./outline.ts";
import { columnsOf } from "./tables/columns.ts";
import { placeOf, type ParameterPlace } from "./tables/field-rows.ts";

/** What a block describes: a side of the exchange, and where its fields are sent. */
export interface Role {
  side?: "request" | "response" | "error";
  place?: ParameterPlace;
}

const ERROR = /\b(?:errors?|faults?|failures?|fehler\w*|unsuccessful|exceptions?)\b/i;
/** `If the order does not exist:` announces what a failure looks like. */
const FAILING =
  /^(?:if|when|in case|wenn|falls)\b.*\b(?:not|no|cannot|can't|fails?|wrong|invalid|unknown|missing|expired|denied|already|nicht|keine?[mnrs]?|falsch\w*|ung[üu]ltig\w*|bereits)\b.*:$/i;
const RESPONSE =
  /\b(?:responses?|answers?|repl(?:y|ies)|results?|outputs?|antwort\w*|r[üu]ckgabe\w*|ergebnis\w*|(?:it |api |call )?returns?(?: (?:the|a|an)\b)?|returned|receive[sd]?|rückmeldung)\b/i;
const REQUEST =
  /\b(?:requests?|parameters?|arguments?|params|body|payload|inputs?|anfrage\w*|aufruf\w*|eingabe\w*|query|headers?|attributes|options|fields to send|post(?:ed)? (?:data|fields)|send)\b/i;

/** Columns that tables of requests have. */
const OF_REQUESTS = new Set(["required", "optional", "place", "default"]);

/** The role of a block by the text before it, its caption, the heads of its columns, and its headings. */
export function roleOf(outline: Outline, placed: PlacedBlock, endpoint: Endpoint | undefined): Role {
  const { block, index, section } = placed;
  const lead = shortLead(leadOf(outline, index));
  const heads = block.kind === "table" ? block.head.map(({ text }) => plainText(text)).join(" | ") : "";
  const titles: string[] = [];
  for (let each: typeof section | undefined = section; each && each.level > 0; each = each.parent) {
    const heading = each.from;
    const isOwn =
      endpoint?.mentions.some((mention) => mention.kind === "heading" && mention.index === heading) === true;
    if (!isOwn) titles.push(each.title);
    if (isOwn || endpoint?.names.includes(each.title)) break;
  }
  // A title with the name of the call may have words of its own: `Send a request`, `Query errors`.
  const inner = titles.slice(0, Math.max(1, titles.length - 1)).concat(titles.length > 1 ? titles.slice(-1) : []);
  // `Returns orders, newest first.` says what the call does, and a table of parameters may follow.
  const isSentence =
    /\.\s*$/.test(leadOf(outline, index)) &&
    !/\b(?:following|these|below|fields|members|properties)\b/i.test(lead) &&
    (REQUEST.test(heads) || (block.kind === "table" && columnsOf(block).some((column) => OF_REQUESTS.has(column))));
  const texts = [isSentence ? "" : lead, heads, ...inner];
  let side: Role["side"];
  for (const [at, text] of texts.entries()) {
    side = sideIn(text, at === 0);
    if (side !== undefined) break;
  }
  const place = texts
    .map((text, at) => (at === 0 || text.length < 100 ? placeWord(text) : undefined))
    .find((each) => each !== undefined);
  return { ...(side === undefined ? {} : { side }), ...(place === undefined ? {} : { place }) };
}

/** Only a line that announces what follows counts, not a paragraph of text. */
function shortLead(lead: string): string {
  const last = lead.split(/(?<=[.!?])\s+/).at(-1) ?? "";
  if (/:\s*$/.test(last) && last.length < 200) return last;
  // A sentence about failures beside another one is not what announces a sample.
  const told = lead.split(/(?<=[.!?])\s+/).filter((each) => !/\b[45]\d\d\b/.test(each));
  const rest = told.length > 0 ? told.join(" ") : lead;
  return rest.length < 80 ? rest.replace(/\.$/, "") : "";
}

function sideIn(text: string, isLead: boolean): Role["side"] {
  if (text === "") return undefined;
  if (isLead && FAILING.test(text)) return "error";
  if (ERROR.test(text) && !/\b(?:limits?|handling)\b/i.test(text)) return "error";
  // `Request and response`: neither.
  const isResponse = RESPONSE.test(
    isLead || !/\breturns?\b/i.test(text) ? text : text.replaceAll(/\breturns?\b/gi, ""),
  );
  const isRequest = REQUEST.test(text);
  if (isResponse && isRequest) {
    if (/^(?:sample |example |the )?(?:response|answer|result|reply|output|antwort)/i.test(text)) return "response";
    if (
      /\b(?:answer|response|reply|antwort)\b.{0,20}\b(?:to|for|of|auf)\b.{0,20}\b(?:request|call|anfrage)/i.test(text)
    )
      return "response";
    if (/\brequests?\b.{0,40}\b(?:returns?|answers?|responds?)\b/i.test(text)) return "response";
    return /^(?:sample |example |the )?(?:request|anfrage)\b/i.test(text) ? "request" : isLead ? "response" : undefined;
  }
  return isResponse ? "response" : isRequest ? "request" : undefined;
}

function placeWord(text: string): ParameterPlace | undefined {
  const found =
    /\b(path|uri|url|query(?:[- ]?string)?|headers?|cookie|body|form|payload|json)(?:[- ]?(?:template|segment|string|data))?\s+(?:param\w*|arguments?|variables?|fields?|values?|attributes?|headers?|components?)|\b(?:request |http |custom )?(headers?)\s*:?$|\b(query string|request body|json body|form data|post body|path variables|url-?parameter)\b|^(query|path|header|body)s?(?: \||$)/i.exec(
      text,
    );
  const word = found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4];
  if (word === undefined) return undefined;
  if (/^(?:url|uri)/i.test(word)) return undefined;
  return placeOf(word);
}
