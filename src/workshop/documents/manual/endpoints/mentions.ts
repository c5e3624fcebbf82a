import type { ManualBlock, LineRange } from "../blocks/manual.ts";
import { plainText, type Outline } from "../outline.ts";
import { columnsOf } from "../tables/columns.ts";
import { readCurlCommand, type CurlRequest } from "../../recorded/curl-request.ts";
import type { ChosenAction } from "./actions.ts";
import { PART, withBraces } from "./address-parts.ts";

/** A place in the manual that names a request: its method and its address. */
export interface Mention {
  /** Undefined: only the address is named. */
  method?: string;
  /** The place does not say the method: it is the one of an address alone. */
  isAssumed?: true;
  /** Where a parameter chooses what a request does. */
  action?: ChosenAction;
  /** `https://host`, if the address is a whole one. */
  origin?: string;
  /** With `{name}` for placeholders, without query. */
  path: string;
  query: { name: string; value: string }[];
  index: number;
  place: LineRange;
  kind: "heading" | "table" | "code" | "text";
  /** It is what the block is about, and not only named in a sentence. */
  isSubject: boolean;
  /** Other cells of its row: a name of the call, and what it is for. */
  name?: string;
  purpose?: string;
}

const METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD";
// A sign that begins a placeholder is not read in two ways, so that the time stays proportional to the text.
const ADDRESS = String.raw`((?:https?:\/\/|\/)(?:${PART}|(?!${PART})[^\s\x60"'<>|\\^])*)`;
const REQUEST = new RegExp(
  String.raw`\b(${METHODS})\b[\x60"*:\s]{1,4}(?:request\s+(?:to|on)\s+|to\s+)?[\x60"]?${ADDRESS}`,
  "g",
);
/** Only the first slash of a word can begin its address: from the others there is nothing else to find. */
const REVERSED = new RegExp(
  String.raw`(?<!/[^\s\x60"'<>|\\^/]*)${ADDRESS}[\x60"]?\s*[([–—-]{1,9}\s*(?:HTTP[- ])?(${METHODS})\b`,
  "g",
);
const LABELLED = new RegExp(
  String.raw`(?:^|[\n.;]\s*|\b)(?:(?:request |service |resource |api |full )?(?:endpoint|url|uri|address|resource|route|path|adresse|aufruf|ressource))\s*[:=]\s*[\x60"]?(?:(${METHODS})\s+)?${ADDRESS}`,
  "gi",
);
/** An address without its first slash: `orders/{id}`, or one word where nothing else can be meant. */
const STEP = String.raw`(?:[A-Za-z][\w.-]*|\{[\w-]+\}|<[\w-]+>|:\w+)`;
const RELATIVE = new RegExp(
  String.raw`^(?:.*[(\[–—:]\s*|\d[\d.]*\s+)?[\x60*]*(${METHODS})[\x60*]*\s+[\x60"*]*(${STEP}(?:/${STEP})*/?(?:\?\S*)?)[\x60"*]*\s*[)\]]?\s*$`,
  "s",
);
const RELATIVE_LABELLED = new RegExp(
  String.raw`^\W*(?:(?:request |service |resource |api |relative )?(?:endpoint|url|uri|address|resource|route|path))\s*[:=]\s*[\x60"*]*(?:(${METHODS})\s+)?(${STEP}(?:/${STEP})*/?)[\x60"*]*\s*$`,
  "im",
);
/** Words that follow a method in a sentence or a title. */
const NO_ADDRESS =
  /^(?:requests?|methods?|data|body|parameters?|params|calls?|endpoints?|operations?|variables?|fields?|examples?|responses?|only|and|or|to|with|is|are|the|a|an)$/i;

/** An address with parameters, and nothing else. */
const BARE = /^\s*(https?:\/\/[^\s"'<>]+\?[^\s"']+=[^\s"']*)\s*$/;

/** All requests that the manual names, in its order. */
export function mentionsIn(outline: Outline): Mention[] {
  return outline.blocks.flatMap(({ block, index }) => inBlock(block, index));
}

function inBlock(block: ManualBlock, index: number): Mention[] {
  switch (block.kind) {
    case "heading":
      return inText(block.text, { index, place: block.place, kind: "heading", isSubject: true });
    case "paragraph":
    case "item":
      return inProse(block.text, index, block.place);
    case "table":
      return inTable(block, index);
    case "code":
      return inCode(block.text, index, block.textFrom);
  }
}

type Where = Pick<Mention, "index" | "place" | "kind" | "isSubject">;

/** A sentence names requests by the way; a line that is little more than a request is about it. */
function inProse(text: string, index: number, place: LineRange): Mention[] {
  const alone = BARE.exec(text)?.[1];
  const target = alone === undefined ? undefined : targetOf(alone);
  if (target) return [{ method: "GET", isAssumed: true, ...target, index, place, kind: "text", isSubject: true }];
  const found = inText(text, { index, place, kind: "text", isSubject: false });
  const labelled = found.length > 0 ? [] : labelledIn(text, index, place);
  const [only] = found;
  const isSubject =
    found.length === 1 &&
    only !== undefined &&
    (plainText(text).length < 160 || /^[`*\s]*(?:GET|POST|PUT|PATCH|DELETE|HEAD)\b/.test(text));
  return [...found.map((mention) => ({ ...mention, isSubject })), ...labelled];
}

function labelledIn(text: string, index: number, place: LineRange): Mention[] {
  const relative = RELATIVE_LABELLED.exec(text);
  const named = relative?.[1] ?? (relative ? methodIn(text) : undefined);
  const below = relative && named !== undefined ? targetOf(`/${relative[2] ?? ""}`) : undefined;
  if (below && named !== undefined)
    return [{ method: named.toUpperCase(), ...below, index, place, kind: "text", isSubject: true }];
  return [...text.matchAll(LABELLED)].flatMap((match) => {
    const [whole, method] = match;
    const address = wholeAddress(match[2] ?? "", text, match.index + whole.length);
    if (/base|root|host|docs?\b/i.test(text.slice(Math.max(0, text.indexOf(whole) - 12), text.indexOf(whole) + 14)))
      return [];
    const stated = method ?? methodIn(text);
    const target = targetOf(address);
    if (!target || (target.path === "/" && target.query.length === 0)) return [];
    // A whole address that ends with a slash is where others begin.
    const isStated = method !== undefined || /\b(?:method|verb|methode)\s*[:=]/i.test(text);
    if (!isStated && target.origin !== undefined && address.endsWith("/")) return [];
    return [
      {
        ...(stated === undefined ? {} : { method: stated.toUpperCase() }),
        ...target,
        index,
        place,
        kind: "text" as const,
        isSubject: true,
      },
    ];
  });
}

/** `Method: POST`, `via POST`, `HTTP GET`. */
function methodIn(text: string): string | undefined {
  return new RegExp(
    String.raw`\b(?:HTTP[- ]?)?(?:method|verb|methode|via|with|using|by|per|HTTPS?|mit)\s*[:=]?\s*(?:an? )?(?:HTTPS?[- ])?[\x60"]?(${METHODS})\b`,
    "i",
  )
    .exec(text)?.[1]
    ?.toUpperCase();
}

/** The method that the manual states for all requests: `Send every document with POST`. */
export function usualMethodIn(outline: Outline): string | undefined {
  for (const { block } of outline.blocks) {
    if (block.kind !== "paragraph" && block.kind !== "item") continue;
    const found = USUAL_METHOD.exec(plainText(block.text.slice(0, 5_000)));
    const method = found?.[1] ?? found?.[2];
    if (method !== undefined) return method;
  }
  return undefined;
}

const USUAL_METHOD = new RegExp(
  String.raw`\b(?:[Aa]ll|[Ee]very|[Ee]ach|[Aa]ny|[Aa]lways|[Bb]oth|[Oo]nly|[Aa]lle|[Jj]ede[rs]?|[Ii]mmer)\b[^.;]{0,100}\b(?:HTTPS?[- ])?(${METHODS})\b(?!\s+[\x60"]?(?:https?:|/))|\b(?:[Rr]equests|[Dd]ocuments|[Mm]essages|[Cc]alls|[Qq]ueries|[Cc]ommands|[Dd]ata|[Aa]nfragen)\s+(?:is|are|must be|have to be|werden)\b[^.;]{0,80}\b(${METHODS})\b(?!\s+[\x60"]?(?:https?:|/))`,
);

function inText(text: string, where: Where): Mention[] {
  const direct = [...text.matchAll(REQUEST)].map(({ index, 0: whole, 1: method = "", 2: address = "" }) => ({
    method,
    address: wholeAddress(address, text, index + whole.length),
  }));
  const reversed =
    direct.length > 0 ? [] : [...text.matchAll(REVERSED)].map(([, address = "", method = ""]) => ({ method, address }));
  const pairs = direct.length > 0 ? direct : reversed.length > 0 ? reversed : relativeIn(text);
  return pairs.flatMap(({ method, address }) => {
    const target = targetOf(address);
    return target ? [{ method, ...target, ...where }] : [];
  });
}

/** The address, with a mark if it goes on with signs that cannot be read: a shorter path is another request. */
function wholeAddress(address: string, text: string, end: number): string {
  const rest = text.slice(end, end + LONGEST_REST);
  const isCut = /^[<>|\\^{]/.test(rest) || (address.endsWith("/") && /^["'`]\w/.test(rest));
  return isCut || (address.endsWith("/") ? PART_AFTER_BLANK : STEP_AFTER_BLANK).test(rest) ? `${address}…` : address;
}

/** The first word of a cell, as far as it is an address. */
function firstAddress(text: string): string {
  const [first = ""] = text.split(/\s/);
  return wholeAddress(first, text, first.length);
}

/** Of `/orders/ {id}`, also in the next line, and of `/orders / {id}`. */
const PART_AFTER_BLANK = new RegExp(String.raw`^(?:[ \t]{1,4}|[ \t]{0,4}\n[ \t]{0,4})(?:${PART}|\[[\w .-]{1,60}\])`);
const STEP_AFTER_BLANK = new RegExp(String.raw`^[ \t]{1,4}/[ \t]{0,4}(?:${PART}|\[[\w .-]{1,60}\])`);
const LONGEST_REST = 80;

/** `Book a shipment (POST book)`, `GET members/{card}`, with nothing after it. */
function relativeIn(text: string): { method: string; address: string }[] {
  const [, method = "", address = ""] = (text.length < 200 && RELATIVE.exec(text)) || [];
  return address === "" || NO_ADDRESS.test(address) ? [] : [{ method, address: `/${address}` }];
}

/** A table with a method and an address in each row, or with `Method | POST` in its rows. */
function inTable(block: Extract<ManualBlock, { kind: "table" }>, index: number): Mention[] {
  const columns = columnsOf(block);
  const method = columns.indexOf("method");
  const address = columns.findIndex(
    (column, at) => at !== method && block.rows.some((row) => isAddress(row[at]?.text ?? "")),
  );
  const rows = block.rows.flatMap((row): Mention[] => {
    const place = row[0]?.place ?? block.place;
    const where: Where = { index, place, kind: "table", isSubject: false };
    const cells = row.map((cell) => cell.text);
    const direct = cells.map((cell) => inText(cell, where));
    const at = direct.findIndex((found) => found.length > 0);
    const whole = at >= 0 ? (direct[at] ?? []) : pairIn(cells[method] ?? "", cells[address] ?? "", where);
    const others = cells
      .filter((_, cell) => cell !== at && cell !== method && cell !== (at < 0 ? address : -1))
      .map(plainText)
      .filter((cell) => cell !== "");
    const [first, second] = others;
    const isNamed = first !== undefined && first.length < 60;
    return whole.map((mention) => ({
      ...mention,
      ...(isNamed ? { name: first } : {}),
      ...(isNamed && second === undefined
        ? { purpose: first }
        : second === undefined
          ? first === undefined
            ? {}
            : { purpose: first }
          : { purpose: second }),
    }));
  });
  if (rows.length > 0) return rows.length === 1 ? rows.map((mention) => ({ ...mention, isSubject: true })) : rows;
  return fromPairs(block, index);
}

function pairIn(method: string, address: string, where: Where): Mention[] {
  const methods =
    plainText(method)
      .toUpperCase()
      .match(new RegExp(String.raw`\b(?:${METHODS})\b`, "g")) ?? [];
  const text = plainText(address);
  const target = isAddress(text) ? targetOf(firstAddress(text)) : undefined;
  return target ? methods.map((each) => ({ method: each, ...target, ...where })) : [];
}

/** `URL | https://…` and `Method | POST` as rows. */
function fromPairs(block: Extract<ManualBlock, { kind: "table" }>, index: number): Mention[] {
  const pairs = [block.head, ...block.rows]
    .filter((row) => row.length === 2)
    .map((row) => row.map(({ text }) => plainText(text)));
  const of = (label: RegExp) => pairs.find(([name = ""]) => label.test(name))?.[1];
  const address = of(/^(?:request )?(?:url|uri|endpoint|address|path|route|resource|adresse|pfad)/i);
  const method = of(/^(?:http[- ]?)?(?:method|verb|methode)/i)
    ?.toUpperCase()
    .match(new RegExp(METHODS))?.[0];
  const stated =
    address === undefined ? undefined : new RegExp(String.raw`^(?:(${METHODS})\s+)?(.*)$`, "s").exec(address);
  const target = stated && isAddress(stated[2] ?? "") ? targetOf(firstAddress(stated[2] ?? "")) : undefined;
  const named = stated?.[1] ?? method;
  return target
    ? [
        {
          ...(named === undefined ? {} : { method: named }),
          ...target,
          index,
          place: block.place,
          kind: "table",
          isSubject: true,
        },
      ]
    : [];
}

function isAddress(text: string): boolean {
  return /^[`"]?(?:https?:\/\/|\/[\w{<:-])/.test(text.trim());
}

const CURL = /^\s*(?:[$>]\s*)?curl\b/;

/** Lines of code that are requests: `POST /x HTTP/1.1`, `GET https://…`, curl commands, and addresses with parameters. */
function inCode(text: string, index: number, from: number): Mention[] {
  const found: Mention[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length && found.length < 200; at++) {
    const line = lines[at] ?? "";
    if (line.length > 8_000) continue;
    const where: Where = { index, place: { from: from + at, to: from + at }, kind: "code", isSubject: true };
    if (CURL.test(line)) {
      const end = endOfCommand(lines, at);
      const command = lines.slice(at, end + 1).join("\n");
      const mention = inCurl(command, { ...where, place: { from: from + at, to: from + end } });
      if (mention) found.push(mention);
      at = end;
      continue;
    }
    const direct = new RegExp(String.raw`^\s*(${METHODS})\s+${ADDRESS}`).exec(line);
    const end = direct ? direct.index + direct[0].length : 0;
    const bare = direct ? undefined : BARE.exec(line);
    const address = direct?.[2] === undefined ? bare?.[1] : wholeAddress(direct[2], line, end);
    const target = address === undefined ? undefined : targetOf(address);
    if (!target) continue;
    const method = direct?.[1] === undefined ? ({ method: "GET", isAssumed: true } as const) : { method: direct[1] };
    found.push({ ...method, ...target, ...where, ...hostOf(target, lines, at) });
  }
  return found;
}

/** The host of a request sample is in its header. */
function hostOf(target: Pick<Mention, "origin">, lines: readonly string[], at: number): Pick<Mention, "origin"> {
  if (target.origin !== undefined) return {};
  for (const line of lines.slice(at + 1, at + 30)) {
    if (line.trim() === "") return {};
    const host = /^\s*host:\s*([\w.-]+(?::\d+)?)\s*$/i.exec(line)?.[1];
    if (host !== undefined && host.includes(".")) return { origin: `https://${host}` };
  }
  return {};
}

/** A command goes on after a backslash, and inside of quotes. */
export function endOfCommand(lines: readonly string[], start: number): number {
  let text = "";
  for (let at = start; at < lines.length && at < start + 400; at++) {
    text += `${lines[at] ?? ""}\n`;
    const isOpen = (text.replaceAll(/\\./g, "").match(/'/g) ?? []).length % 2 === 1;
    if (!isOpen && !/[\\^`]\s*$/.test(lines[at] ?? "")) return at;
  }
  return start;
}

function inCurl(command: string, where: Where): Mention | undefined {
  const request = curlRequest(command);
  const shown = new RegExp(String.raw`["']?(https?:\/\/(?:${PART}|(?!${PART})[^\s"'\\])+)`).exec(command);
  const written = shown ? wholeAddress(shown[1] ?? "", command, shown.index + shown[0].length) : undefined;
  const address = request && /^https?:/i.test(request.url) ? request.url : written;
  const target = address === undefined ? undefined : targetOf(written?.startsWith(address) ? written : address);
  // A whole path in a variable of a script names no request.
  if (!target || /^\/\{\w+\}$/.test(target.path)) return undefined;
  const method = request?.method;
  return { ...(method !== undefined && KNOWN_METHOD.test(method) ? { method } : {}), ...target, ...where };
}

const KNOWN_METHOD = new RegExp(`^(?:${METHODS})$`);

function curlRequest(command: string): CurlRequest | undefined {
  try {
    return readCurlCommand(command.replace(/^\s*[$>]\s*/, ""));
  } catch {
    return undefined;
  }
}

/** The parts of an address; placeholders of any style become `{name}`. */
export function targetOf(address: string): Pick<Mention, "origin" | "path" | "query"> | undefined {
  const end = /(?<=\/)\.{3}$/.test(address) ? "" : /[.,;:!]+$/;
  const text = address.replace(end, "").replace(/\)+$/, (ends) => (address.includes("(") ? ends : ""));
  const [, scheme = "", written = "", rest = ""] = ORIGIN.exec(text) ?? [];
  const host = withBraces(written, "host");
  if (scheme !== "" && !/^[\w.{}:@[\]…-]+$/.test(host)) return undefined;
  const [beforeFragment, fragment] = splitAt(rest, "#");
  const [before, after = ""] = splitAt(beforeFragment, "?");
  // What follows # is never sent, so without it the path may be that of another request: it stays, and is asked about.
  const path = withOpenEnd(withBraces(before, "path")) + (fragment === undefined ? "" : `#${fragment}`);
  if (/[^\w\-./~%!$&'()*+,;=:@{}…#]/.test(path)) return undefined;
  if (scheme === "" && !/^\/(?:[\w{.~-]|$)/.test(path)) return undefined;
  const query = after
    .split("&")
    .filter((pair) => pair !== "")
    .flatMap((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      const plain = name.replace(/^[[{(]+|[\])}]+$/g, (ends) =>
        name.includes("[") && name.includes("]") && !name.startsWith("[") ? ends : "",
      );
      return /^[\w.\-$[\]]{1,80}$/.test(plain) ? [{ name: plain, value }] : [];
    });
  return {
    ...(scheme === "" ? {} : { origin: scheme + host }),
    path: path === "" ? "/" : path,
    query,
  };
}

const ORIGIN = new RegExp(String.raw`^(?:(https?:\/\/)((?:${PART}|(?!${PART})[^/?#])+))?(.*)$`, "s");

/** What is before and after the first sign. */
function splitAt(text: string, sign: string): [string, string?] {
  const at = text.indexOf(sign);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** A placeholder that does not end is one that was cut. */
function withOpenEnd(path: string): string {
  const at = path.search(/<|\[|\{[^{}]*$/);
  return at < 0 ? path : `${path.slice(0, at)}…`;
}
