import type { CallToolResult, Content } from "../../protocol/mcp.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import { bytesOf, excerptOf, type Excerpt, type Omission } from "./excerpt.ts";
import type { Failure } from "./failure.ts";
import type { MorePages } from "./response-reader.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import { shorten } from "../../text/shorten.ts";

export const META_KEYS = {
  correlation: "dev.nexus/correlationId",
  omitted: "dev.nexus/omitted",
  repeated: "dev.nexus/repeated",
  steps: "dev.nexus/steps",
  sourcePayload: "dev.nexus/sourcePayload",
} as const;

const MIN_BYTES = 256;
const MAX_FAILURE_CHARACTERS = 4_000;
const MAX_SAID_CHARACTERS = 300;
const MAX_PAYLOAD_CHARACTERS = 256 * 1024;
const MAX_RECEIVED_CHARACTERS = 200;
/** Places that an excerpt left out, and how much of each: the names of members come from upstream. */
const MOST_OMISSIONS = 100;
const MAX_PATH_CHARACTERS = 200;

interface ResultParts {
  text: string;
  structured: Record<string, unknown>;
  /** `structured` as JSON, if it is known. */
  json?: string | undefined;
  /** Deviations from the documentation. */
  deviations: readonly Record<string, string>[];
  maxBytes: number;
  /** A file that the call returned. */
  blob?: Content[] | undefined;
  /** Pages that were not read. */
  more?: MorePages | undefined;
  /** Keeps the complete result if it does not fit. */
  keep: { keepWhole: (whole: string) => string | undefined; api: string; tool: string };
}

/** The result of a call: a line for people, the value for programs and models, and a link to what did not fit. */
export function successResult(parts: ResultParts): CallToolResult {
  const { text: line, more, keep, maxBytes: most, blob = [], json } = parts;
  // An excerpt keeps all of what is needed to go on.
  const maxBytes = more ? Math.max(MIN_BYTES, most - bytesOf({ more })) : most;
  // The line may contain upstream text, which is also in the value.
  const text = `${shorten(line, maxBytes)}${more ? `\n${moreLine(more)}` : ""}`;
  const structured = withMore(withDeviations(parts.structured, parts.deviations), more);
  const whole = json !== undefined && structured === parts.structured ? json : JSON.stringify(structured);
  // A UTF-16 unit takes at most three bytes.
  if (whole.length * 3 <= maxBytes || Buffer.byteLength(whole) <= maxBytes) {
    return {
      content: [block(text, ["user", "assistant"]), ...blob, block(whole, ["assistant"])],
      structuredContent: structured,
    };
  }
  const { value: excerpt, omitted } = excerptWithDeviations(parts, maxBytes);
  const value = withMore(excerpt, more);
  const id = keep.keepWhole(whole);
  const uri = id === undefined ? undefined : resultUri(keep.api, id);
  return {
    content: [
      block(`${text}\n${excerptLine(omitted, uri)}`, ["user", "assistant"]),
      ...blob,
      block(JSON.stringify(value), ["assistant"]),
      ...(uri === undefined ? [] : [link(uri, keep.tool, Buffer.byteLength(whole))]),
    ],
    structuredContent: value,
    _meta: { [META_KEYS.omitted]: omitted.slice(0, MOST_OMISSIONS).map(shortened) },
  };
}

function shortened(omission: Omission): Omission {
  return { ...omission, path: shorten(omission.path, MAX_PATH_CHARACTERS) };
}

function withMore(value: Record<string, unknown>, more: MorePages | undefined): Record<string, unknown> {
  return more ? { ...value, more } : value;
}

function moreLine({ next, why }: MorePages): string {
  const how = next
    ? `To go on, call again with the same arguments and ${JSON.stringify(next)}.`
    : "This call cannot be continued: ask for less.";
  return `There is more: ${why}. ${how}`;
}

/** As much data as fits; deviations get the remaining room, so that they never displace data. */
function excerptWithDeviations(
  { structured, deviations }: Pick<ResultParts, "structured" | "deviations">,
  maxBytes: number,
): Excerpt {
  const { value, omitted } = excerptOf(structured, maxBytes);
  let shown = deviations.length;
  while (shown > 0 && bytesOf(withDeviations(value, deviations.slice(0, shown))) > maxBytes) shown >>= 1;
  if (shown === deviations.length) return { value: withDeviations(value, deviations), omitted };
  const rest = { path: "deviations", shown, of: deviations.length };
  return { value: withDeviations(value, deviations.slice(0, shown)), omitted: [...omitted, rest] };
}

function withDeviations(
  structured: Record<string, unknown>,
  deviations: readonly Record<string, string>[],
): Record<string, unknown> {
  return deviations.length === 0 ? structured : { ...structured, deviations };
}

/** A failure is a result, so that the model can read it and try something else. */
export function failureResult(
  { text, hint, said }: Pick<Failure, "text" | "hint"> & Partial<Pick<Failure, "said">>,
  hidden: HiddenValues,
): CallToolResult {
  // Secrets are masked before the text is cut, because half of one is not recognised; and before its lines are joined, because
  // one that was broken there has a blank in it after that. A blank that was written in another way is one only then.
  const quoted = said === undefined ? "" : hidden.in(inOneLine(hidden.in(said)));
  const quote = quoted === "" ? undefined : `It said: ${shorten(quoted, MAX_SAID_CHARACTERS)}`;
  const lines = [hidden.inOwnWords(text), quote, hint === undefined ? undefined : hidden.inOwnWords(hint)];
  const words = lines.filter((line) => line !== undefined).join("\n");
  return { content: [block(shorten(words, MAX_FAILURE_CHARACTERS), ["user", "assistant"])], isError: true };
}

function inOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

/** A deviation for the caller. Masked before it is cut, because half of a secret is not recognised. */
export function toldDeviation({ path, problem, received }: Deviation, hidden: HiddenValues): Record<string, string> {
  const told = { path: hidden.in(path), problem: hidden.inOwnWords(problem) };
  if (received === undefined) return told;
  return { ...told, received: shorten(hidden.in(received), MAX_RECEIVED_CHARACTERS) };
}

/** The raw answer, for people: models have the value. */
export function payloadBlock(payload: string, about: { status: number; contentType: string | undefined }): Content {
  const isCut = payload.length > MAX_PAYLOAD_CHARACTERS;
  const text = shorten(payload, MAX_PAYLOAD_CHARACTERS);
  return { ...block(text, ["user"]), _meta: { [META_KEYS.sourcePayload]: { ...about, isCut } } };
}

/** The result for a repeated write: the first result, and a note that the first call did it. */
export function repeatedResult(result: CallToolResult, at: number): CallToolResult {
  const when = new Date(at).toISOString();
  const note = `This was already done at ${when}, with the same arguments. Nothing was sent again; this is what it gave.`;
  return {
    ...result,
    content: [block(note, ["user", "assistant"]), ...result.content],
    _meta: { ...result._meta, [META_KEYS.repeated]: { at: when } },
  };
}

export function withMeta(result: CallToolResult, meta: Record<string, unknown>): CallToolResult {
  // The new member comes first, so that all results have the same hidden class: see docs/speed.md.
  if (!result._meta) return { _meta: meta, ...result };
  return { ...result, _meta: { ...result._meta, ...meta } };
}

export function resultUri(api: string, id: string): string {
  return `result://${api}/${id}`;
}

function excerptLine(omitted: readonly Omission[], uri: string | undefined): string {
  const shown = omitted
    .slice(0, 3)
    .map(shortened)
    .map(({ path, shown, of }) => `${shown} of ${of} in ${path}`);
  const more = omitted.length > shown.length ? `, and ${omitted.length - shown.length} more places` : "";
  const where = uri === undefined ? "Ask for less to see all of it." : `All of it is in the resource ${uri}.`;
  return `This is an excerpt (${shown.join(", ")}${more}). ${where}`;
}

function link(uri: string, tool: string, size: number): Content {
  const annotations = { audience: ["user", "assistant"] };
  return { type: "resource_link", uri, name: `${tool} result`, mimeType: "application/json", size, annotations };
}

function block(text: string, audience: string[]): Content {
  return { type: "text", text, annotations: { audience } };
}
