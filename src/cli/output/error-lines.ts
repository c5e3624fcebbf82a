import type { NexusError } from "../../errors/nexus-error.ts";
import { renderForPeople } from "../../errors/render.ts";
import { hanging, wrapped } from "./text-width.ts";

const LABEL = "nexus: ";
const INDENT = "  ";
/** Sentences; other rows are commands, addresses and text of servers, which stay as they are to be copied. */
const SENTENCE = /^ {2}(?:likely cause|note|fix): +/;

/** An error for people, its sentences broken between words. */
export function errorLines(error: NexusError, columns: number | undefined): string[] {
  const [message = "", ...rows] = renderForPeople(error).split("\n");
  // Without the indent, a line of a server's message could look like one of this program.
  const width = columns && columns - INDENT.length;
  const [first = "", ...others] = wrapped(LABEL + message, width);
  return [
    first,
    ...others.map((line) => INDENT + line),
    ...rows.flatMap((row) => {
      const [lead] = SENTENCE.exec(row) ?? [];
      return lead === undefined ? [row] : hanging(lead, row.slice(lead.length), columns);
    }),
  ];
}
