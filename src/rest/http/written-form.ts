import * as z from "zod";
import { visible } from "../../text/visible.ts";

const MAX_SHOWN = 100;

/** A text of a certain form. `words`: what the text is not, and what to write instead. */
export function writtenForm(pattern: RegExp, words: string) {
  return z.string().regex(pattern, {
    error: ({ input }) => `${JSON.stringify(String(input).slice(0, MAX_SHOWN))} is not ${words}`,
  });
}

export const NAME_FORM = writtenForm(
  /^[a-z][a-z0-9-]{0,31}$/,
  "a valid name. Use 1 to 32 lower-case letters, digits and dashes, starting with a letter.",
);

/** The name of a person or a thing as people read it: one line, without characters that cannot be seen. */
export const SHOWN_NAME = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => visible(text) === text, "It has invisible characters");
