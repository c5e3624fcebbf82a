import { resultParts, type ResultPart } from "../../host/result-parts.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { sizeText } from "../../text/byte-size.ts";
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

/** Media that models can look at; others are only named. */
const SEEN = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;
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
  const seen = parts.map(seenPart);
  const label = origin === undefined ? [] : [originLine(origin)];
  const text = seen.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const short = kept?.shorten(text, origin);
  const media = seen.filter((part) => part.type === "media");
  const words = short ?? (text === "" && media.length === 0 ? emptyText(result) : text);
  const content: ModelResult["content"] = [{ type: "text", text: [...label, words].join("\n") }, ...media];
  return { content, bytes, isShortened: short !== undefined };
}

function emptyText({ isError }: CallToolResult): string {
  return isError ? "The tool reported an error without a message." : "The tool returned nothing.";
}

function seenPart(part: ResultPart): TextPart | MediaPart {
  if (part.type === "text") return part;
  const { data, mediaType } = part;
  if (SEEN.test(mediaType) && data !== "" && data.length <= MAX_MEDIA) return part;
  return { type: "text", text: `(${mediaType}, ${sizeText(bytesOf(data))}: not shown)` };
}

function sizeOf(part: ResultPart): number {
  return part.type === "text" ? Buffer.byteLength(part.text) : bytesOf(part.data);
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4);
}
