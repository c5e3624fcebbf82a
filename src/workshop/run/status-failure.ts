import { isRecord } from "../../json/is-record.ts";

/** The most single problems that are shown. */
const MAX_PROBLEMS = 10;
/** Members with one entry for each problem; the first is that of RFC 7807, the others are in use. */
const LISTS = ["invalid-params", "invalidParams", "errors", "violations"];
const PLACES = ["name", "pointer", "field", "propertyPath", "path", "parameter", "property", "source"];
const REASONS = ["reason", "detail", "message", "title", "description"];

/** Whether a JSON answer is a problem as RFC 9457 defines it, also without its media type. */
export function isProblem(value: unknown, contentType: string): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  if (/\bproblem\+json\b/i.test(contentType)) return true;
  const isText = (name: string) => typeof value[name] === "string";
  return isText("title") && (isText("detail") || isText("type")) && typeof value["status"] === "number";
}

/** A problem in one line: what it is, its details, and what is wrong with which value. */
export function problemText(problem: Record<string, unknown>): string | undefined {
  const [title, detail] = [textOf(problem["title"]), textOf(problem["detail"])];
  const heads = [title, detail === title ? undefined : detail].filter((text) => text !== undefined);
  const single = LISTS.flatMap((name) => problemsIn(problem[name]));
  const shown = single.slice(0, MAX_PROBLEMS);
  if (single.length > shown.length) shown.push(`and ${single.length - shown.length} more`);
  const list = shown.join("; ");
  const head = heads.map((text) => text.replace(/[.:]$/, "")).join(": ");
  if (head === "" && list === "") return undefined;
  return list === "" ? (heads.length === 1 ? heads[0] : head) : head === "" ? list : `${head} (${list})`;
}

/** A list of texts or objects, or an object with the texts of each field. */
function problemsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => problemIn(item));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, texts]) =>
    [texts].flat().flatMap((item: unknown) => problemIn(item).map((text) => `${name}: ${text}`)),
  );
}

function problemIn(item: unknown): string[] {
  const text = textOf(item);
  if (text !== undefined) return [text];
  if (!isRecord(item)) return [];
  const reason = REASONS.map((name) => textOf(item[name])).find((found) => found !== undefined);
  const place = PLACES.map((name) => placeIn(item[name])).find((found) => found !== undefined);
  if (reason === undefined) return [];
  return [place === undefined ? reason : `${place}: ${reason}`];
}

function placeIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map((step) => textOf(step) ?? "").join(".") || undefined;
  return isRecord(value) ? textOf(value["pointer"] ?? value["parameter"]) : textOf(value);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
