import { SaxesParser } from "saxes";
import { readCurlCommand, type CurlRequest } from "../../recorded/curl-request.ts";
import type { CodeBlock } from "../blocks/manual.ts";
import { endOfCommand, targetOf, type Mention } from "../endpoints/mentions.ts";
import type { SampleNode } from "./sample-node.ts";

const MAX_LENGTH = 1_000_000;

/** A request or an answer in a code block. */
export interface MessageSample {
  /** Undefined: the code does not say it. */
  side?: "request" | "response";
  /** Method and address of a request. */
  target?: Pick<Mention, "origin" | "path" | "query"> & { method: string };
  status?: number;
  headers: { name: string; value: string; line: number }[];
  /** `curl -u` */
  hasUser?: boolean;
  body?: BodySample;
  /** Lines of the document. */
  from: number;
  to: number;
}

export interface BodySample {
  kind: "json" | "xml" | "form" | "multipart" | "text";
  node?: SampleNode;
  text: string;
  line: number;
}

const REQUEST_LINE = /^\s*(GET|POST|PUT|PATCH|DELETE|HEAD)\s+(\S+)(?:\s+HTTP\/[\d.]+)?\s*$/;
const STATUS_LINE = /^\s*HTTP\/[\d.]+\s+(\d{3})\b/;
const HEADER = /^\s*([A-Za-z][\w-]*):\s?(.*)$/;

/** The messages of a code block, in order. */
export function samplesIn({ text, textFrom }: CodeBlock): MessageSample[] {
  if (text.length > 2_000_000) return [];
  const lines = text.split("\n");
  const found: MessageSample[] = [];
  let at = 0;
  while (at < lines.length && found.length < 100) {
    const line = lines[at] ?? "";
    if (line.trim() === "") at++;
    else if (/^\s*(?:[$>]\s*)?curl\b/.test(line)) at = addCurl(found, lines, at, textFrom);
    else if (REQUEST_LINE.test(line) || STATUS_LINE.test(line)) at = addHttp(found, lines, at, textFrom);
    else {
      const end = nextStart(lines, at + 1);
      const body = bodyOf(lines.slice(at, end).join("\n"), textFrom + at);
      const after = found.at(-1);
      // What follows a command is its output.
      if (body.kind !== "text" || found.length > 0)
        found.push({
          ...(after?.side === "request" ? { side: "response" as const } : {}),
          headers: [],
          body,
          from: textFrom + at,
          to: textFrom + end - 1,
        });
      at = end;
    }
  }
  return found;
}

function nextStart(lines: readonly string[], from: number): number {
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (REQUEST_LINE.test(line) || STATUS_LINE.test(line) || /^\s*[$>]?\s*curl\s/.test(line)) return at;
  }
  return lines.length;
}

function addHttp(found: MessageSample[], lines: readonly string[], start: number, textFrom: number): number {
  const request = REQUEST_LINE.exec(lines[start] ?? "");
  const status = STATUS_LINE.exec(lines[start] ?? "")?.[1];
  const headers: MessageSample["headers"] = [];
  let at = start + 1;
  for (; at < lines.length; at++) {
    const header = HEADER.exec(lines[at] ?? "");
    if (!header || header[1] === undefined) break;
    headers.push({ name: header[1], value: header[2]?.trim() ?? "", line: textFrom + at });
  }
  while (at < lines.length && (lines[at] ?? "").trim() === "") at++;
  const end = nextStart(lines, at);
  const content = lines.slice(at, end).join("\n");
  const target = request?.[2] === undefined ? undefined : targetOf(request[2]);
  const type = headers.find(({ name }) => /^content-type$/i.test(name))?.value;
  found.push({
    side: request ? "request" : "response",
    ...(target && request?.[1] !== undefined ? { target: { ...target, method: request[1] } } : {}),
    ...(status === undefined ? {} : { status: Number(status) }),
    headers,
    ...(content.trim() === "" ? {} : { body: bodyOf(content, textFrom + at, type) }),
    from: textFrom + start,
    to: textFrom + end - 1,
  });
  return Math.max(end, at, start + 1);
}

function addCurl(found: MessageSample[], lines: readonly string[], start: number, textFrom: number): number {
  const end = endOfCommand(lines, start);
  const command = lines
    .slice(start, end + 1)
    .join("\n")
    .replace(/^\s*[$>]\s*/, "");
  let request: CurlRequest;
  try {
    request = readCurlCommand(command);
  } catch {
    return end + 1;
  }
  const target = targetOf(request.url);
  const lineOf = (text: string) => {
    const offset = lines.slice(start, end + 1).findIndex((line) => line.includes(text));
    return textFrom + start + Math.max(0, offset);
  };
  found.push({
    side: "request",
    ...(target ? { target: { ...target, method: request.method } } : {}),
    headers: request.headers.map(([name, value]) => ({ name, value, line: lineOf(name) })),
    ...(request.hasUser ? { hasUser: true } : {}),
    ...curlBody(request, lineOf),
    from: textFrom + start,
    to: textFrom + end,
  });
  return end + 1;
}

function curlBody({ body }: CurlRequest, lineOf: (text: string) => number): Pick<MessageSample, "body"> {
  if (body.kind === "text") {
    const first = body.text.split("\n").find((line) => line.trim() !== "") ?? "";
    const skipped = body.text.split("\n").findIndex((line) => line.trim() !== "");
    const line = lineOf(first.trim().slice(0, 60)) - Math.max(0, skipped);
    return { body: bodyOf(body.text, line, body.isJson ? "application/json" : undefined) };
  }
  if (body.kind === "form") return { body: formBody(body.text, lineOf(body.text.split("&")[0] ?? "")) };
  if (body.kind === "parts") {
    const children = body.parts.map(({ name, value, isFile }) => ({
      name,
      attribute: false,
      line: lineOf(`${name}=`),
      value: isFile ? "<file>" : value,
      children: [],
    }));
    const line = children[0]?.line ?? 1;
    return { body: { kind: "multipart", node: { name: "", attribute: false, line, children }, text: "", line } };
  }
  return {};
}

function bodyOf(text: string, line: number, contentType = ""): BodySample {
  const start = text.trimStart();
  if (start.startsWith("<")) {
    const node = xmlSample(text, line);
    if (node) return { kind: "xml", node, text, line };
  }
  if (/^[[{/]/.test(start)) {
    const node = jsonLines(text, line);
    if (node) return { kind: "json", node, text, line };
  }
  const isForm =
    /x-www-form-urlencoded/i.test(contentType) || /^\s*[\w.[\]-]+=[^&\n]*(?:\n?&[\w.[\]-]+=[^&\n]*)+\s*$/.test(text);
  return isForm ? formBody(text, line) : { kind: "text", text, line };
}

function formBody(text: string, line: number): BodySample {
  let at = line;
  const children: SampleNode[] = [];
  for (const pair of text.trim().split("&")) {
    const [name = "", value = ""] = pair.split(/=(.*)/s);
    at += (pair.match(/^\s*\n/) ?? []).length;
    if (/^[\w.\-$[\]]{1,80}$/.test(name.trim()))
      children.push({ name: name.trim(), attribute: false, line: at, value: decoded(value.trim()), children: [] });
  }
  return { kind: "form", node: { name: "", attribute: false, line, children }, text, line };
}

export function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

const MAX_DEPTH = 60;
const MAX_NODES = 20_000;
const SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance";

/** The document of a sample with the lines of its parts; undefined if it is not well formed. */
function xmlSample(text: string, firstLine: number): SampleNode | undefined {
  const start = text.search(/<[A-Za-z_?!]/);
  if (start < 0) return undefined;
  const skipped = (text.slice(0, start).match(/\n/g) ?? []).length;
  const parser = new SaxesParser({ xmlns: true, position: true });
  const open: SampleNode[] = [];
  let root: SampleNode | undefined;
  let count = 0;
  let isBroken = false;
  let line = 1;
  parser.on("error", () => {
    isBroken = true;
  });
  parser.on("opentagstart", () => {
    line = parser.line;
  });
  parser.on("opentag", (tag) => {
    if (isBroken || ++count > MAX_NODES || open.length > MAX_DEPTH) {
      isBroken = true;
      return;
    }
    const node: SampleNode = {
      name: tag.local,
      attribute: false,
      line: line + skipped + firstLine - 1,
      ...(tag.uri === "" ? {} : { namespace: tag.uri }),
      children: [],
    };
    for (const { local, prefix, uri, value } of Object.values(tag.attributes)) {
      if (prefix === "xmlns" || local === "xmlns" || uri === SCHEMA_INSTANCE) continue;
      node.children.push({ name: local, attribute: true, line: node.line, value, children: [] });
    }
    if (root === undefined) root = node;
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  const addText = (content: string) => {
    const at = open.at(-1);
    if (at && content.trim() !== "") at.value = `${typeof at.value === "string" ? at.value : ""}${content}`;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    open.pop();
  });
  try {
    parser.write(text.slice(start).trimEnd()).close();
  } catch {
    return undefined;
  }
  return isBroken || open.length > 0 ? undefined : root;
}

/**
 * The value of a JSON sample with the lines of its members; undefined if it is not JSON. Manuals write comments, commas at
 * the end, `…` for what they leave out, and placeholders without quotes.
 */
function jsonLines(text: string, firstLine: number): SampleNode | undefined {
  if (text.length > MAX_LENGTH || !/^\s*(?:\/\/[^\n]*\n\s*|\/\*[\s\S]*?\*\/\s*)*[[{]/.test(text)) return undefined;
  const reader = new JsonReader(text, firstLine);
  return reader.whole();
}

class JsonReader {
  readonly #text: string;
  #at = 0;
  #line: number;

  constructor(text: string, firstLine: number) {
    this.#text = text;
    this.#line = firstLine;
  }

  whole(): SampleNode | undefined {
    const node = this.#value("", 0);
    this.#skip();
    return node && this.#at >= this.#text.length ? node : undefined;
  }

  #value(name: string, depth: number): SampleNode | undefined {
    this.#skip();
    const line = this.#line;
    const sign = this.#text[this.#at];
    if (depth > MAX_DEPTH || sign === undefined) return undefined;
    if (sign === "{" || sign === "[") return this.#many(name, sign, depth);
    if (sign === '"' || sign === "'") {
      const value = this.#string(sign);
      return value === undefined ? undefined : { name, attribute: false, line, value, children: [] };
    }
    return this.#bare(name);
  }

  #many(name: string, sign: "{" | "[", depth: number): SampleNode | undefined {
    const node: SampleNode = {
      name,
      attribute: false,
      line: this.#line,
      ...(sign === "[" ? { list: true as const } : {}),
      children: [],
    };
    const end = sign === "{" ? "}" : "]";
    this.#at++;
    for (;;) {
      this.#skip();
      const next = this.#text[this.#at];
      if (next === undefined) return undefined;
      if (next === end) {
        this.#at++;
        return node;
      }
      if (next === ",") {
        this.#at++;
        continue;
      }
      const child = sign === "[" ? this.#value("", depth + 1) : this.#member(depth);
      if (!child) return undefined;
      node.children.push(child);
      this.#skip();
      const after = this.#text[this.#at];
      if (after !== "," && after !== end) return undefined;
    }
  }

  #member(depth: number): SampleNode | undefined {
    const line = this.#line;
    const sign = this.#text[this.#at];
    let name: string | undefined;
    if (sign === '"' || sign === "'") name = this.#string(sign);
    else {
      name = /^[A-Za-z_$][\w$-]*/.exec(this.#text.slice(this.#at, this.#at + 200))?.[0];
      this.#at += name?.length ?? 0;
    }
    this.#skip();
    if (name === undefined || this.#text[this.#at] !== ":") return undefined;
    this.#at++;
    const value = this.#value(name, depth + 1);
    return value && { ...value, line };
  }

  #string(quote: string): string | undefined {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== quote) {
      if (this.#text[end] === "\n") return undefined;
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    if (end >= this.#text.length) return undefined;
    const raw = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    try {
      return String(JSON.parse(`"${quote === "'" ? raw.replaceAll('"', String.raw`\"`) : raw}"`));
    } catch {
      return raw;
    }
  }

  #bare(name: string): SampleNode | undefined {
    const found = /^(?:<[^<>\n]{0,80}>|\{\{[^{}\n]{0,80}\}\}|[^\s,\]}{["/][^,\]}\n/]*)/.exec(
      this.#text.slice(this.#at, this.#at + 200),
    )?.[0];
    if (found === undefined) return undefined;
    const line = this.#line;
    this.#at += found.length;
    const text = found.trim();
    const node = { name, attribute: false, line, children: [] };
    if (text === "true" || text === "false") return { ...node, value: text === "true" };
    if (text === "null") return { ...node, value: null };
    const value = Number(text);
    if (/^-?\d/.test(text) && Number.isFinite(value))
      return { ...node, value: Number.isSafeInteger(value) || !Number.isInteger(value) ? value : text };
    return { ...node, value: text.startsWith("<") ? text : `<${text}>` };
  }

  /** Blanks, comments and dots. */
  #skip(): void {
    for (;;) {
      const rest = this.#text.slice(this.#at, this.#at + 2);
      const sign = rest[0];
      if (sign === "\n") this.#line++;
      if (sign !== undefined && /\s/.test(sign)) this.#at++;
      else if (rest === "//" || sign === "#") this.#to("\n");
      else if (rest === "/*") {
        const end = this.#text.indexOf("*/", this.#at);
        const to = end < 0 ? this.#text.length : end + 2;
        this.#line += (this.#text.slice(this.#at, to).match(/\n/g) ?? []).length;
        this.#at = to;
      } else if (sign === "…") this.#at++;
      else if (rest === "..") this.#at += /^\.+/.exec(this.#text.slice(this.#at, this.#at + 20))?.[0].length ?? 2;
      else return;
    }
  }

  #to(sign: string): void {
    const end = this.#text.indexOf(sign, this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }
}
