import { sizeText } from "../../text/byte-size.ts";
import type { MediaPart, TextPart } from "./model-message.ts";
import type { ProviderType } from "../../config/models-setting.ts";

/** Images that all providers take. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const AUDIO = new Set(["audio/wav", "audio/mp3", "audio/mpeg"]);
/** Other models answer sound with an error, and it stays in the conversation. */
const HEARS = /audio|omni|voxtral|gemini/i;
const PDF = "application/pdf";
/** Media that are texts. */
export const TEXT_MEDIA =
  /^(?:text\/|image\/svg\+xml|application\/(?:json|xml|yaml|javascript)\b)|\+(?:json|xml|yaml)$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Which model gets the media. */
export interface MediaTaker {
  type: ProviderType;
  model: string;
}

/** The part as this model can take it: text as text, and words instead of what it cannot take. */
export function takenMedia(part: MediaPart, taker: MediaTaker): MediaPart | TextPart {
  const mediaType = (part.mediaType.split(";")[0] ?? "").trim().toLowerCase();
  const data = part.data.replaceAll(/\s/g, "");
  // Packages of providers take some other texts for addresses or ids of files.
  if (!BASE64.test(data)) return inWords(mediaType, 0, "its data is not base64");
  if (TEXT_MEDIA.test(mediaType)) return { type: "text", text: Buffer.from(data, "base64").toString("utf8") };
  if (isTaken(mediaType, taker)) return { type: "media", data, mediaType };
  return inWords(mediaType, Buffer.byteLength(data, "base64"), "this model does not take it");
}

function isTaken(mediaType: string, { type, model }: MediaTaker): boolean {
  if (IMAGES.has(mediaType)) return true;
  // Few compatible servers know the parts of messages for files.
  if (mediaType === PDF) return type !== "openai-compatible";
  return AUDIO.has(mediaType) && type !== "anthropic" && HEARS.test(model);
}

function inWords(mediaType: string, bytes: number, why: string): TextPart {
  const size = bytes === 0 ? "" : `, ${sizeText(bytes)}`;
  return { type: "text", text: `[${mediaType || "a file"}${size}: left out, because ${why}]` };
}
