import { takenMedia, type MediaTaker } from "../model/media-support.ts";
import type { MediaPart } from "../model/model-message.ts";

/** Takes every kind of media that any model takes. */
const EVERY_KIND: MediaTaker = { type: "openai", model: "audio" };

/** The text that a model reads in place of a file: of a text file, its content; undefined for images, sound and the like. */
export function textOfMedia(part: MediaPart): string | undefined {
  const taken = takenMedia(part, EVERY_KIND);
  return taken.type === "text" ? taken.text : undefined;
}
