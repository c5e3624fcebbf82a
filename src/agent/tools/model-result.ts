import { resultParts, type ResultPart } from "../../host/result-parts.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { sizeText } from "../../text/byte-size.ts";
import { TEXT_MEDIA } from "../model/media-support.ts";
import type { MediaPart, TextPart } from "../model/model-message.ts";
import type { KeptResults } from "./kept-results.ts";
import { originLine, type DataOrigin } from "./origin.ts";

/** What a model gets of a result. */
export interface ModelResult {
  content: (TextPart | MediaPart)[];
  /** The size of the whole. */
  bytes: number;
  isShortened: boolean;
}

/** Media of which some models take some; their providers leave out the others. */
const MEDIA = /^(?:image|audio)\/|^application\/pdf$/i;
/** Base64 characters of one medium: providers refuse more than 5 MB. */
const MAX_MEDIA = 5 * 1024 * 1024;

/** A result for a model: with its origin, without repetition, and shortened if `kept` keeps the whole. */
export function modelResult(
  result: CallToolResult,
  origin: DataOrigin | undefined,
  kept: KeptResults | undefined,
): ModelResult {
  const parts = resultParts(result);
  const bytes = parts.reduce((sum, part) => sum + sizeOf(part), 0);
  const given = parts.map(givenPart);
  const label = origin === undefined ? [] : [originLine(origin)];
  const text = given.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const short = kept?.shorten(text, origin);
  const media = given.filter((part) => part.type === "media");
  const words = short ?? (text === "" && media.length === 0 ? emptyText(result) : text);
  const content: ModelResult["content"] = [{ type: "text", text: [...label, words].join("\n") }, ...media];
  return { content, bytes, isShortened: short !== undefined };
}

function emptyText({ isError }: CallToolResult): string {
  return isError ? "The tool reported an error without a message." : "The tool returned nothing.";
}

function givenPart(part: ResultPart): TextPart | MediaPart {
  if (part.type === "text") return part;
  const { data, mediaType } = part;
  // They count and are shortened as texts.
  if (TEXT_MEDIA.test(mediaType)) return { type: "text", text: Buffer.from(data, "base64").toString("utf8") };
  if (MEDIA.test(mediaType) && data !== "" && data.length <= MAX_MEDIA) return part;
  return { type: "text", text: `(${mediaType}, ${sizeText(Buffer.byteLength(data, "base64"))}: not shown)` };
}

function sizeOf(part: ResultPart): number {
  return part.type === "text" ? Buffer.byteLength(part.text) : Buffer.byteLength(part.data, "base64");
}
