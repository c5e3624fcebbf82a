import { isRecord } from "../../json/is-record.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { pointerParts } from "../../schema/pointer.ts";
import { sha256 } from "../../text/digest.ts";
import { jsonSample } from "../documents/text/json-sample.ts";
import { parseText } from "../documents/parse-document.ts";
import { pageTexts } from "../documents/text/text-lines.ts";

/** A part of a JSON or YAML document; its value may be null. */
interface DocumentPart {
  value: unknown;
}

/** Parts with longer texts are represented by their hash, so that nested parts are not written again and again. */
const MAX_INLINE = 1_000;

/** A document of a tool file: its lines and, if it is JSON or YAML, its parts. It is read when something is asked for. */
export class CitedDocument {
  readonly #text: string;
  readonly #name: string;
  #lines: string[] | undefined;
  #pages: string[] | undefined;
  /** By line, counted from 1: the nearest heading above it. */
  #headings: (string | undefined)[] | undefined;
  #root: { part: DocumentPart } | { problem: string } | undefined;
  readonly #digests = new Map<object, string>();

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  get text(): string {
    return this.#text;
  }

  get lines(): readonly string[] {
    this.#lines ??= this.#text.split(/\r?\n/);
    return this.#lines;
  }

  /** The lines from the first to the last, counted from 1. */
  quote({ from, to }: { from: number; to: number }): string {
    return this.lines.slice(from - 1, to).join("\n");
  }

  /** The texts of the pages of a PDF, without running heads and page numbers. */
  get pages(): readonly string[] {
    this.#pages ??= pageTexts(this.#text.replaceAll("\r\n", "\n"));
    return this.#pages;
  }

  /** A page, counted from 1. */
  findPage(number: number): string | undefined {
    return this.pages[number - 1];
  }

  /** The first heading on a page, or the nearest one before it. */
  headingOfPage(number: number): string | undefined {
    for (let page = number; page >= 1; page--) {
      const headings = (this.findPage(page) ?? "")
        .split("\n")
        .flatMap((line) => /^#{1,6} +(.*\S)/.exec(line)?.[1] ?? []);
      const heading = page === number ? headings[0] : headings.at(-1);
      if (heading !== undefined) return heading;
    }
    return undefined;
  }

  headingAbove(line: number): string | undefined {
    if (!this.#headings) {
      let heading: string | undefined;
      const above = this.lines.map((text) => {
        if (/^#{1,6} /.test(text)) heading = text.replace(/^#+ +/, "").trim();
        return heading;
      });
      this.#headings = [undefined, ...above];
    }
    return this.#headings[line];
  }

  /** Why it has no parts; undefined if it has. */
  get problem(): string | undefined {
    const root = this.#parsed();
    return "problem" in root ? root.problem : undefined;
  }

  /** By JSON pointer (RFC 6901); the whole document for the empty one. */
  findPart(pointer: string): DocumentPart | undefined {
    const root = this.#parsed();
    if ("problem" in root) return undefined;
    let { value } = root.part;
    for (const key of pointerParts(pointer)) {
      // The bodies in a collection are texts of JSON, and have parts as well.
      if (typeof value === "string") value = jsonSample(value)?.value;
      if (Array.isArray(value)) {
        if (!/^(?:0|[1-9]\d{0,8})$/.test(key) || Number(key) >= value.length) return undefined;
        value = (value as unknown[])[Number(key)];
      } else if (isRecord(value) && Object.hasOwn(value, key)) value = value[key];
      else return undefined;
    }
    return { value };
  }

  /** A hash of the part's values, whatever the order of its members and its layout. */
  partHash(pointer: string): string | undefined {
    const part = this.findPart(pointer);
    return part && sha256(this.#digest(part.value));
  }

  /** The canonical JSON of a value, or a hash in its place if it is long. Each value is written once. */
  #digest(value: unknown): string {
    if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
    const known = this.#digests.get(value);
    if (known !== undefined) return known;
    const text = Array.isArray(value)
      ? `[${value.map((item) => this.#digest(item)).join(",")}]`
      : `{${Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, member]) => `${JSON.stringify(key)}:${this.#digest(member)}`)
          .join(",")}}`;
    const digest = text.length <= MAX_INLINE ? text : `#${sha256(text)}`;
    this.#digests.set(value, digest);
    return digest;
  }

  #parsed(): { part: DocumentPart } | { problem: string } {
    try {
      this.#root ??= { part: { value: parseText(this.#text, this.#name).value } };
    } catch (error) {
      this.#root = { problem: messageOf(error) };
    }
    return this.#root;
  }
}

/** A part as text, in the layout of JSON. */
export function partText({ value }: DocumentPart): string {
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "null");
}
