import { NexusError } from "../errors/nexus-error.ts";
import type { KnownWords } from "./masked-line.ts";
import type { Place } from "./source-node.ts";
import type { SourceText } from "./source-text.ts";

export interface Mistake {
  file: string;
  text: SourceText;
  /** What the excerpt may show. */
  words: KnownWords;
  place: Place;
  /** "JSON", "YAML", "TOML" */
  format: string;
  what: string;
  hint?: string | undefined;
  cause?: unknown;
}

/** A file that cannot be read as what it is: the place, what is wrong there, and the lines themselves. */
export function syntaxError({ file, text, words, place, format, what, hint, cause }: Mistake): NexusError {
  const message = `Not valid ${format} at line ${place.line}, column ${place.column}: ${what}`;
  return new NexusError("CONFIG_INVALID", message, {
    phase: "config",
    source: { file, ...place },
    excerpt: text.excerpt(place, words),
    hint,
    cause,
    mayHaveReached: false,
  });
}
