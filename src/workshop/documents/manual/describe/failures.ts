import type { ErrorFacts, OperationFacts } from "../../api-facts.ts";
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
  return table.rows.flatMap((row) => {
    const codes = [...plainText(row[status]?.text ?? "").matchAll(/\b([45]\d\d)\b/g)].map(([code]) => Number(code));
    const say = withoutMarks(plainText(row[text]?.text ?? ""));
    if (codes.length === 0 || say === "") return [];
    return [{ status: codes, say, evidence: outline.manual.evidence(row[status]?.place ?? table.place) }];
  });
}

/** `404 – The order does not exist` as items of a list. */
export function statusItem(text: string): { status: number[]; say: string } | undefined {
  const found = /^\s*`?([45]\d\d)\b`?\s*(?:[\w ]{0,30}?)?\s*(?:[:–—=]|-(?=\s))\s*([\s\S]{3,300})$/.exec(text);
  return found ? { status: [Number(found[1])], say: withoutMarks(plainText(found[2] ?? "")) } : undefined;
}

const READ =
  /\b(?:changes? nothing|read[- ]only|does not (?:change|modify|alter|write)|no side effects?|nothing is (?:changed|booked|reserved|created)|[äa]ndert nichts|may be repeated as often)\b/i;
const WRITE =
  /\b(?:is a write|creates? (?:a|an|the|new)\b|each (?:accepted )?(?:message|call|request) (?:is|creates) a new|is not idempotent|schreibend)/i;
const DESTRUCTIVE = /\b(?:cannot be undone|irreversibl\w*|permanently (?:deletes?|removes?)|unwiderruflich)\b/i;

/** What a sentence says about the effect of a request. */
export function effectIn(text: string): OperationFacts["effect"] {
  if (DESTRUCTIVE.test(text)) return "destructive";
  if (READ.test(text)) return "read";
  return WRITE.test(text) ? "write" : undefined;
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
