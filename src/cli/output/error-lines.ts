import type { NexusError } from "../../errors/nexus-error.ts";
import { renderForPeople } from "../../errors/render.ts";
import { broken, fitted, hanging } from "./text-width.ts";

const LABEL = "nexus: ";
const INDENT = "  ";
/** Sentences; other rows are commands, addresses and text of servers, which stay as they are to be copied. */
const SENTENCE = /^ {2}(?:likely cause|note|fix): +/;

/** An error for people, its sentences broken between words. */
export function errorLines(error: NexusError, columns: number | undefined): string[] {
  const [message = "", ...rows] = renderForPeople(error).split("\n");
  // Without the indent, a line of a server's message could look like one of this program.
  const width = columns && columns - INDENT.length;
  const [first = "", ...others] = fitted(LABEL + message, width);
  return [
    first,
    ...others.map((line) => INDENT + line),
    ...rows.flatMap((row) => {
      const [lead] = SENTENCE.exec(row) ?? [];
      if (lead === undefined) return [row];
      return hanging(lead, row.slice(lead.length), width).flatMap((line) => {
        const [begin = "", ...more] = broken(line, width);
        return [begin, ...more.map((rest) => INDENT + rest)];
      });
    }),
  ];
}
