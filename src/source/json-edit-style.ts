import { createScanner } from "jsonc-parser/lib/esm/main.js";

/** The layout of a JSON text. */
export class JsonStyle {
  /** One step of indentation. */
  readonly indent: string;
  readonly eol: string;

  constructor(text: string) {
    [, this.indent = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
    this.eol = text.includes("\r\n") ? "\r\n" : "\n";
  }

  get formatting(): { insertSpaces: boolean; tabSize: number; eol: string } {
    const isTabs = this.indent.startsWith("\t");
    return { insertSpaces: !isTabs, tabSize: isTabs ? 1 : this.indent.length, eol: this.eol };
  }

  /** A value over several lines; the first line is already indented. */
  json(value: unknown, indent: string): string {
    return JSON.stringify(value, undefined, this.indent).replaceAll("\n", this.eol + indent);
  }

  /** The indentation of the line at an offset. */
  indentAt(text: string, offset: number): string {
    return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";
  }

  isFirstInLine(text: string, offset: number): boolean {
    return text.slice(lineStart(text, offset), offset).trim() === "";
  }
}

/** The position of the comma after an offset, if there is one; comments may be between. */
export function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === "," ? at : undefined;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}
