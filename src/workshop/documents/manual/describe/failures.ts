import type { ErrorFacts } from "../../api-facts.ts";
import type { ManualBlock } from "../blocks/manual.ts";
import { plainText, type Outline } from "../outline.ts";
import { columnsOf, mostly } from "../tables/columns.ts";
import { withoutMarks } from "../words.ts";

type Table = Extract<ManualBlock, { kind: "table" }>;

/** The rows of a table of statuses: what a failure means. */
export function statusRows(table: Table, outline: Outline): ErrorFacts[] {
  const columns = columnsOf(table);
  const isStatus = (index: number) =>
    mostly(table, index, (text) => /\b[1-5]\d\d\b/.test(plainText(text)) && plainText(text).length < 60);
  const status = columns.findIndex((column, index) => (column === "status" || column === "code") && isStatus(index));
  if (status < 0) return [];
  const text = ["text", "other", "name", "values"].flatMap((wanted) =>
    columns.flatMap((column, index) => (column === wanted && index !== status ? [index] : [])),
  )[0];
  if (text === undefined) return [];
  const named = columns.findIndex((column, index) => column === "code" && index !== status && index !== text);
  return table.rows.flatMap((row) => {
    const codes = [...plainText(row[status]?.text ?? "").matchAll(/\b([45]\d\d)\b/g)].map(([code]) => Number(code));
    const words = withoutMarks(plainText(row[text]?.text ?? ""));
    const code = plainText(row[named]?.text ?? "");
    const say = named >= 0 && code !== "" && words !== "" ? `${code}: ${words}` : words;
    if (codes.length === 0 || say === "") return [];
    return [{ status: codes, say, evidence: outline.manual.evidence(row[status]?.place ?? table.place) }];
  });
}

/** `404 – The order does not exist`, `400 seat_taken: …`, `seat_taken (400): …` as items of a list. */
export function statusItem(text: string): { status: number[]; say: string } | undefined {
  // No error is described at such length, and expressions take long for long blanks.
  if (text.length > 1_000) return undefined;
  const found =
    /^\s*`?(?:HTTP )?([45]\d\d)\b((?:[\w ()./-]|`){0,60}?)\s*(?:[:–—=]|-(?=\s))\s*([\s\S]{3,300})$/.exec(text) ??
    named(
      /^\s*`?([\w.-]{3,60})`?\s*(?:[([]\s*)?(?:HTTP )?`?([45]\d\d)\b[^:–—]{0,40}(?:[:–—]|-(?=\s))\s*([\s\S]{3,300})$/.exec(
        text,
      ),
    );
  if (!found) return undefined;
  const code = /`([\w.-]+)`|\b([a-z]+(?:_[a-z]+)+|[A-Z]+(?:_[A-Z]+)+)\b/
    .exec(found[2] ?? "")
    ?.slice(1)
    .find(Boolean);
  const say = withoutMarks(plainText(found[3] ?? ""));
  return { status: [Number(found[1])], say: code === undefined ? say : `${code}: ${say}` };
}

function named(found: RegExpExecArray | null): (string | undefined)[] | undefined {
  return found ? [found[0], found[2], `\`${found[1] ?? ""}\``, found[3]] : undefined;
}

/** A status in a sentence that is about answers: not a number of something. */
const STATUS =
  /(?<![\w.,/:#-]|\b(?:to|than|most|least|of|max|min|between|between \d{1,6} and|line|page|section)\s)`?\b([45]\d\d)\b(?!\s*(?:characters?|chars?|ms|milli|seconds?|items?|bytes?|[kmg]b|rows?|records?|requests?|calls?|per\b|days?|entries|%|px|km|eur|usd))[.,]?(?!\d)(?:\s+(?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Precondition Failed|Payload Too Large|Unsupported Media Type|Unprocessable (?:Entity|Content)|Locked|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Timeout))?`?(?:\s+(?:status(?: code)?|error|response|code))?/gi;
const ANSWERS =
  /\b(?:returns?|returned|respon[ds]\w*|answer\w*|status|errors?|https?|fails?|reject\w*|results? in|receive[sd]?|throws?|raises?|gets?)\b/i;

/** `Returns 404 if the order does not exist and 410 if it was cancelled.` */
export function statusSentences(text: string): { status: number[]; say: string }[] {
  if (!/\b[45]\d\d\b/.test(text) || text.length > 4_000) return [];
  return text.split(/(?<=[.!?;])\s+/).flatMap((sentence) => {
    if (!ANSWERS.test(sentence)) return [];
    const codes = [...sentence.matchAll(STATUS)];
    return codes.map((code, at) => {
      const after = sentence.slice(code.index + code[0].length, codes[at + 1]?.index);
      const reason = /^\W*(?:if|when|where|in case|unless|because|for)\s+([\s\S]{5,})/i.exec(after);
      const words = codes.length > 1 && reason ? (reason[1] ?? "") : sentence;
      const say = withoutMarks(plainText(words).replace(/[,;]?\s*(?:and|or|but|and with|or with)?\s*[.;,]?\s*$/i, ""));
      return { status: [Number(code[1])], say: say.charAt(0).toUpperCase() + say.slice(1) };
    });
  });
}

/** `allow at least 30 seconds`, `timeout of 2 minutes`, in milliseconds. */
export function timeoutIn(text: string): number | undefined {
  const found =
    /(?:allow|wait|time-?out|antwortzeit)[^.]{0,50}?\b(\d{1,4})\s*(ms|milliseconds?|s|secs?|seconds?|sekunden|min(?:utes?|uten)?)\b/i.exec(
      text,
    );
  if (!found) return undefined;
  const value = Number(found[1]);
  const unit = (found[2] ?? "").toLowerCase();
  const ms =
    unit.startsWith("ms") || unit.startsWith("milli") ? value : unit.startsWith("m") ? value * 60_000 : value * 1_000;
  return ms >= 1_000 && ms <= 600_000 ? ms : undefined;
}
