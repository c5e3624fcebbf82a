import type { Evidence } from "../api-facts.ts";
import type { PostmanPart } from "./postman-part.ts";

export interface HeaderEntry {
  name: string;
  value: string;
  isOff: boolean;
  description: string | undefined;
  evidence: Evidence;
}

/** The headers of a request or response: a list, or lines of text. */
export function headersOf(part: PostmanPart): HeaderEntry[] {
  const text = part.text();
  if (text !== undefined) {
    return text.split(/\r?\n/).flatMap((line) => {
      const [, name, value = ""] = /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, value, isOff: false, description: undefined, evidence: part.evidence }];
    });
  }
  return part.items().flatMap((entry) => {
    const name = entry.part("key").text()?.trim();
    if (name === undefined || name === "") return [];
    const value = entry.part("value").text() ?? "";
    return [{ name, value, isOff: entry.isOff, description: entry.description(), evidence: entry.evidence }];
  });
}
