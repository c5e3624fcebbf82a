import { type Part, present } from "../../../format/part.ts";
import type { DocumentSpec } from "../model/tool-file.ts";

const NAME = /^[A-Za-z][\w-]*$/;

export function readDocuments(part: Part): Record<string, DocumentSpec> {
  return Object.fromEntries(
    part.entries().map(([name, document]) => {
      if (!NAME.test(name))
        document.keyError(`"${name}" is not a valid name of a document`, "Letters, digits, - and _.");
      document.members(["file", "sha256", "title", "source"], ["file", "sha256"]);
      const file = document.part("file").text() ?? "";
      if (!isBeside(file)) {
        document
          .part("file")
          .error(`"${file}" is not beside this file`, "Write a path that begins in the same folder.");
      }
      return [
        name,
        present({
          file,
          sha256: readSha256(document.part("sha256")),
          title: document.part("title").text(),
          source: document.part("source").text(),
        }),
      ];
    }),
  );
}

const FIND_OUT = "Write 64 zeros if you do not know it: the next check says what it is.";

function readSha256(part: Part): string {
  const text = part.text();
  if (text === undefined || /^[0-9a-f]{64}$/.test(text)) return text ?? "";
  const hint = /^(sha256[:-])?[0-9a-f]{64}$/i.test(text) ? "Lower case, and nothing before it." : FIND_OUT;
  part.error("is not a SHA-256: 64 digits from 0 to f", hint);
  return text;
}

function isBeside(file: string): boolean {
  const parts = file.split("/");
  return !/[\\:]/.test(file) && parts.every((name) => name !== ".." && (name !== "" || file === ""));
}
