import { NexusError } from "../errors/nexus-error.ts";
import type { KnownWords } from "./masked-line.ts";
import type { Place } from "./source-node.ts";
import type { SourceText } from "./source-text.ts";

interface Mistake {
  file: string;
  text: SourceText;
  /** The words that the excerpt may show. */
  words: KnownWords;
  place: Place;
  /** "JSON", "YAML", "TOML" */
  format: string;
  what: string;
  hint?: string | undefined;
  cause?: unknown;
}

/** The error for a file that cannot be parsed: the place, the problem and the lines. */
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
