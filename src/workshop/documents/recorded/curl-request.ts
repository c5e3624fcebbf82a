import { NexusError } from "../../../errors/nexus-error.ts";

/** What a curl command sends. */
export interface CurlRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  cookies: [name: string, value: string][];
  /** `-u`: for Basic authentication. */
  hasUser: boolean;
  bearer: boolean;
  /** `aws:amz:eu-west-1:s3`, or a part of it. */
  awsSigning: string | undefined;
  body:
    | { kind: "none" }
    | { kind: "text"; text: string; isJson: boolean }
    | { kind: "form"; text: string }
    | { kind: "parts"; parts: FormPart[] }
    | { kind: "file" };
}

interface FormPart {
  name: string;
  value: string;
  isFile: boolean;
  contentType: string | undefined;
}

/** Short options with a value. */
const WITH_VALUE = "XHdFubAeoTmxcCDEKPQrtUwyYz";
const SHORT: Readonly<Record<string, string>> = {
  X: "request",
  H: "header",
  d: "data",
  F: "form",
  u: "user",
  b: "cookie",
  A: "user-agent",
  e: "referer",
  T: "upload-file",
  G: "get",
  I: "head",
};
/** Long options without a value; all others have one. */
const FLAGS = new Set(
  `anyauth append basic compressed crlf digest disable fail fail-early fail-with-body false-start ftp-pasv get globoff
  haproxy-protocol head http0.9 http1.0 http1.1 http2 http2-prior-knowledge http3 include insecure ipv4 ipv6 junk-session-cookies
  list-only location location-trusted negotiate netrc netrc-optional next no-buffer no-keepalive no-progress-meter no-sessionid ntlm
  parallel path-as-is post301 post302 post303 progress-bar proxy-basic raw remote-header-name remote-name remote-name-all
  remote-time retry-all-errors retry-connrefused show-error silent ssl ssl-reqd sslv2 sslv3 styled-output suppress-connect-headers
  tcp-nodelay tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding trace-time use-ascii verbose xattr`.split(/\s+/),
);
const MAX_LENGTH = 1024 * 1024;
/** Words of the command, and parts of its address and of its cookies. */
const MAX_PARTS = 2_000;

/** Reads a curl command as it is copied from documentation or a browser. */
export function readCurlCommand(command: string): CurlRequest {
  if (command.length > MAX_LENGTH) throw unusable("The command is longer than 1 MB", "Shorten its body.");
  const [program = "", ...words] = shellWords(command.replace(/^\s*\$\s+/, ""));
  if (!/^(?:.*[\\/])?curl(?:\.exe)?$/i.test(program)) {
    throw unusable("This is not a curl command", "It begins with curl, like: curl https://api.example/orders");
  }
  checkParts(words);
  const given = new Given();
  for (let at = 0; at < words.length; at++) {
    const { name, value, used, flags = [] } = optionAt(words, at);
    for (const flag of flags) given.take(flag, "");
    given.take(name, value);
    at += used;
  }
  return given.request();
}

function checkParts(words: readonly string[]): void {
  const most = words.reduce((max, word) => Math.max(max, partsOf(word)), words.length);
  if (most > MAX_PARTS) throw unusable(`The command has more than ${MAX_PARTS} parts`, "Leave out what is not needed.");
}

/** Steps and pairs of an address, or pairs of a form or of cookies. JSON and XML are limited where they are read. */
function partsOf(word: string): number {
  if (/^\s*[[{<]/.test(word)) return 1;
  const between = /^(?:[a-z][\w+.-]*:\/\/|[^\s=]*\/)/i.test(word.slice(0, 200)) ? /[/&]/ : /[&;]/;
  return word.split(between, MAX_PARTS + 1).length;
}

/**
 * The option at a place; "url" for a word that is none. `used`: how many further words belong to it; `flags`: options
 * without a value that are in the same word.
 */
function optionAt(
  words: readonly string[],
  at: number,
): { name: string; value: string; used: number; flags?: string[] } {
  const flags: string[] = [];
  const word = words[at] ?? "";
  const next = words[at + 1] ?? "";
  if (word.startsWith("--")) {
    const [name = "", inline] = word.slice(2).split(/=(.*)/s);
    if (inline !== undefined) return { name, value: inline, used: 0 };
    const isFlag = FLAGS.has(name) || name.startsWith("no-");
    return isFlag ? { name, value: "", used: 0 } : { name, value: next, used: 1 };
  }
  if (!/^-./.test(word)) return { name: "url", value: word, used: 0 };
  // Several in one word: -sSL, -XPOST, -sXPOST.
  for (let index = 1; index < word.length; index++) {
    const sign = word[index] ?? "";
    if (!WITH_VALUE.includes(sign)) {
      if (sign === "G" || sign === "I") flags.push(SHORT[sign] ?? "");
      continue;
    }
    const rest = word.slice(index + 1);
    const name = SHORT[sign] ?? "other";
    return rest === "" ? { name, value: next, used: 1, flags } : { name, value: rest, used: 0, flags };
  }
  return { name: "other", value: "", used: 0, flags };
}

/** The options so far. */
class Given {
  #url: string | undefined;
  #method: string | undefined;
  readonly #headers: CurlRequest["headers"] = [];
  readonly #cookies: CurlRequest["cookies"] = [];
  readonly #data: string[] = [];
  readonly #parts: FormPart[] = [];
  readonly #flags = new Set<string>();
  #awsSigning: string | undefined;

  take(name: string, value: string): void {
    switch (name) {
      case "url":
        this.#url ??= value;
        break;
      case "request":
        this.#method = value.toUpperCase();
        break;
      case "header":
        this.#header(value);
        break;
      case "data":
      case "data-ascii":
      case "data-binary":
      case "data-raw":
      case "data-urlencode":
      case "json":
        this.#flags.add(name === "json" ? "json" : "data");
        this.#addData(name, value);
        break;
      case "form":
      case "form-string":
        this.#parts.push(formPart(value, name === "form-string"));
        break;
      case "cookie":
        this.#addCookies(value);
        break;
      case "aws-sigv4":
        this.#awsSigning = value;
        break;
      case "user":
      case "oauth2-bearer":
      case "upload-file":
      case "get":
      case "head":
        this.#flags.add(name);
        break;
      default:
    }
  }

  request(): CurlRequest {
    if (this.#url === undefined) {
      throw unusable("The command names no address", "Write it like: curl https://api.example/orders");
    }
    const isGet = this.#flags.has("get");
    const body = isGet ? { kind: "none" as const } : this.#body();
    const query = isGet ? this.#data.join("&") : "";
    const url = query === "" ? this.#url : `${this.#url}${this.#url.includes("?") ? "&" : "?"}${query}`;
    const implied = this.#flags.has("upload-file") ? "PUT" : body.kind === "none" ? "GET" : "POST";
    return {
      method: this.#method ?? (this.#flags.has("head") ? "HEAD" : implied),
      url,
      headers: this.#headers,
      cookies: this.#cookies,
      hasUser: this.#flags.has("user"),
      bearer: this.#flags.has("oauth2-bearer"),
      awsSigning: this.#awsSigning,
      body,
    };
  }

  #body(): CurlRequest["body"] {
    if (this.#parts.length > 0) return { kind: "parts", parts: this.#parts };
    if (this.#flags.has("upload-file")) return { kind: "file" };
    if (this.#data.length === 0) return { kind: "none" };
    const text = this.#data.join(this.#flags.has("json") ? "" : "&");
    if (text.startsWith("@")) return { kind: "file" };
    const type = this.#headers.find(([name]) => name.toLowerCase() === "content-type")?.[1].toLowerCase();
    const looksLikeJson = /^\s*[[{]/.test(text);
    const isJson = this.#flags.has("json") || (type === undefined ? looksLikeJson : type.includes("json"));
    if (isJson || (type !== undefined && !type.includes("x-www-form-urlencoded")))
      return { kind: "text", text, isJson };
    return { kind: "form", text };
  }

  #addData(name: string, value: string): void {
    if (name !== "data-urlencode") this.#data.push(value);
    else {
      const [, field = "", content = ""] = /^([^=@]*)[=@]?(.*)$/s.exec(value) ?? [];
      const isNamed = /^[^=@]+[=@]/.test(value);
      this.#data.push(
        isNamed ? `${field}=${encodeURIComponent(content)}` : encodeURIComponent(value.replace(/^=/, "")),
      );
    }
  }

  #header(text: string): void {
    const [, name, value = ""] = /^\s*([^:;\s]+)\s*[:;]\s*(.*?)\s*$/s.exec(text) ?? [];
    if (name === undefined) return;
    if (name.toLowerCase() === "cookie") this.#addCookies(value);
    else this.#headers.push([name, value]);
  }

  /** Text without a sign of equality is the name of a file with cookies. */
  #addCookies(text: string): void {
    for (const pair of text.split(/;\s*/)) {
      const at = pair.indexOf("=");
      if (at > 0) this.#cookies.push([pair.slice(0, at).trim(), pair.slice(at + 1)]);
    }
  }
}

/** `name=value`, `name=@file;type=image/png` or `name=<file`. */
function formPart(text: string, isPlain: boolean): FormPart {
  const [, name = "", rest = ""] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
  if (isPlain) return { name, value: rest, isFile: false, contentType: undefined };
  const [value = "", ...settings] = rest.split(";");
  const contentType = settings.find((each) => each.startsWith("type="))?.slice("type=".length);
  const isFile = value.startsWith("@");
  return { name, value: isFile || value.startsWith("<") ? "" : value, isFile, contentType };
}

function unusable(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { hint, mayHaveReached: false });
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0", a: "\u0007", b: "\b" };

/**
 * The words of one command as a shell splits them: quotes, `$'…'`, and lines that are continued with a backslash, `^` or
 * a backtick. `$NAME` becomes `{{NAME}}`, a variable of collections. What follows `|`, `;` or `>` is left out.
 */
export function shellWords(text: string): string[] {
  return new Splitter(text.replaceAll(/[\\^`][ \t]*\r?\n/g, " ").trim()).words();
}

class Splitter {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  words(): string[] {
    const words: string[] = [];
    for (;;) {
      while (/\s/.test(this.#sign())) this.#at += 1;
      if (this.#at >= this.#text.length || /[|;>]/.test(this.#sign())) return words;
      if (this.#sign() === "&" && /^&(?:&|\s|$)/.test(this.#text.slice(this.#at, this.#at + 2))) return words;
      words.push(this.#word());
    }
  }

  #word(): string {
    let word = "";
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || /[\s|;>]/.test(sign)) return word;
      if (sign === "'") word += this.#plain();
      else if (sign === '"') word += this.#quoted();
      else if (sign === "$" && this.#text[this.#at + 1] === "'") word += this.#escaped();
      else if (sign === "$") word += this.#variable();
      else if (sign === "\\" && this.#at + 1 < this.#text.length) word += this.#take(2).slice(1);
      // The shell of Windows escapes with it.
      else if (sign === "^" && /[\^&|<>"]/.test(this.#text[this.#at + 1] ?? "")) word += this.#take(2).slice(1);
      else word += this.#take(1);
    }
  }

  /** `'…'`: nothing is special. */
  #plain(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    const until = end === -1 ? this.#text.length : end;
    const inner = this.#text.slice(this.#at + 1, until);
    this.#at = until + 1;
    return inner;
  }

  #quoted(): string {
    let inner = "";
    this.#at += 1;
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || sign === '"') {
        this.#at += 1;
        return inner;
      }
      if (sign === "\\" && /["\\$`]/.test(this.#text[this.#at + 1] ?? "")) inner += this.#take(2).slice(1);
      else if (sign === "$") inner += this.#variable();
      else inner += this.#take(1);
    }
  }

  /** `$'…'`, as browsers write it for texts with quotes. */
  #escaped(): string {
    let inner = "";
    this.#at += 2;
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || sign === "'") {
        this.#at += 1;
        return inner;
      }
      inner += sign === "\\" ? this.#escape() : this.#take(1);
    }
  }

  #escape(): string {
    const [whole, hex] =
      /^\\(?:u([0-9a-fA-F]{1,4})|x([0-9a-fA-F]{1,2}))/.exec(this.#text.slice(this.#at, this.#at + 6)) ?? [];
    if (whole !== undefined) {
      this.#at += whole.length;
      return String.fromCharCode(Number.parseInt(hex ?? whole.slice(2), 16));
    }
    const sign = this.#take(2).slice(1);
    return ESCAPES[sign] ?? sign;
  }

  #variable(): string {
    const [whole, braced, bare] =
      /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(this.#text.slice(this.#at, this.#at + 200)) ?? [];
    if (whole === undefined) return this.#take(1);
    this.#at += whole.length;
    return `{{${braced ?? bare}}}`;
  }

  #sign(): string {
    return this.#text[this.#at] ?? "";
  }

  #take(count: number): string {
    const taken = this.#text.slice(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}
