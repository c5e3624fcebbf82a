import type { Output } from "../output/output.ts";
import { summaryLines } from "./list-command.ts";

interface Described {
  name: string;
  title?: string;
  description?: string;
}

/** What a resource or a template is called, and what it is, below its address. */
export function describedLines(item: Described, out: Output, width: number | undefined): string[] {
  const { name, title = name, description } = item;
  const text = description === undefined || description === title ? title : `${title} – ${description}`;
  return summaryLines(text, out, width);
}
