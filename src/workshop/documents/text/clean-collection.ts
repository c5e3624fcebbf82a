import { isRecord } from "../../../json/is-record.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { escapePart } from "../../../schema/pointer.ts";
import { isCredentialName, mayBeSecretName } from "../../../masking/secret-names.ts";
import { looksSecret } from "../../../masking/find-secrets.ts";
import { jsonSample } from "./json-sample.ts";
import { cleanValue, type Places } from "./clean-json.ts";
import { cleanCookies, cleanProse, isCredential, LEFT_OUT } from "../../../masking/clean-prose.ts";

const MAX_DEPTH = 150;
/** What an `auth` says that is not a credential. */
const OPEN_AUTH =
  /^(?:type|key|in|addTokenTo|headerPrefix|tokenName|tokenType|grant_type|accessTokenUrl|authUrl|refreshTokenUrl|redirect_uri|callBackUrl|scope|audience|resource|client_authentication|challengeAlgorithm|algorithm|service|region|realm|qop|signatureMethod|version|domain|workstation|hashAlgorithm|headersToSign|useBrowser|disable\w*|add\w*To\w*|include\w*|isSecretBase64Encoded|tokenRequestParams|authRequestParams|refreshRequestParams)$/i;
/** Names of members that say what an entry is, and do not have its value. */
const NAMES = new Set([
  "key",
  "id",
  "name",
  "type",
  "uid",
  "_postman_id",
  "_exporter_id",
  "schema",
  "mode",
  "method",
  "in",
]);

/** A Postman collection without the values of credentials, wherever they are. The names, and so all places, stay. */
export function cleanCollection(value: unknown, places: Places): unknown {
  return new CollectionCleaner(places).clean(value, "", "", 0);
}

class CollectionCleaner {
  readonly #places: Places;

  constructor(places: Places) {
    this.#places = places;
  }

  clean(value: unknown, key: string, pointer: string, depth: number): unknown {
    if (depth > MAX_DEPTH) return value;
    if (typeof value === "string") return this.#text(value, key, pointer);
    if (Array.isArray(value)) return this.#list(value, key, pointer, depth);
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const place = `${pointer}/${escapePart(name)}`;
        return [name, this.#member(value, { name, member, place, key, depth: depth + 1 })];
      }),
    );
  }

  #member(owner: Record<string, unknown>, { name, member, place, key, depth }: MemberOf): unknown {
    if (name === "auth" && isRecord(member)) return this.#auth(member, place);
    if (name === "exec") return this.#script(member, place);
    // The name of an entry tells what its value is.
    const called = [owner["key"], owner["name"], key === "variable" ? owner["id"] : undefined].find(
      (each) => typeof each === "string",
    );
    const isValue = /^(?:value|currentValue|initialValue|sessionValue|default)$/.test(name);
    if (isValue && typeof called === "string" && typeof member !== "object") {
      return this.#entry(called, member, place, { isSecret: owner["type"] === "secret" });
    }
    if (name === "raw" && (owner["mode"] !== undefined || key === "body")) return this.#body(member, place);
    if (name === "body" && typeof member === "string") return this.#body(member, place);
    if (name === "variables" && key === "graphql") return this.#body(member, place);
    if (name === "raw" || name === "url" || (name === "request" && typeof member === "string")) {
      return typeof member === "string"
        ? this.#changed(member, cleanAddress(cleanProse(member)), place)
        : this.clean(member, name, place, depth);
    }
    if (typeof member === "string" && !NAMES.has(name) && mayBeSecretName(name) && isCredential(name, member)) {
      return this.#changed(member, LEFT_OUT, place);
    }
    return this.clean(member, name, place, depth);
  }

  #list(list: readonly unknown[], key: string, pointer: string, depth: number): unknown[] {
    return list.map((item: unknown, index) => {
      const place = `${pointer}/${index}`;
      if (key === "path" && typeof item === "string") return this.#changed(item, cleanStep(item), place);
      return this.clean(item, key, place, depth + 1);
    });
  }

  /** A text that no rule is about: a description, a name, the lines of headers. */
  #text(text: string, key: string, pointer: string): string {
    if (key === "header") return this.#changed(text, text.split("\n").map(cleanHeaderLine).join("\n"), pointer);
    if (NAMES.has(key) && !looksSecret(text)) return text;
    return this.#changed(text, cleanProse(text), pointer);
  }

  #auth(auth: Record<string, unknown>, pointer: string): unknown {
    return Object.fromEntries(
      Object.entries(auth).map(([type, given]) => {
        const place = `${pointer}/${escapePart(type)}`;
        if (Array.isArray(given)) {
          return [
            type,
            (given as unknown[]).map((entry, index) => {
              const name = isRecord(entry) ? String(entry["key"]) : "";
              if (!isRecord(entry) || !Object.hasOwn(entry, "value")) return entry;
              return { ...entry, value: this.#authValue(name, entry["value"], `${place}/${index}/value`) };
            }),
          ];
        }
        if (!isRecord(given)) return [type, given];
        const entries = Object.entries(given).map(([name, value]) => [
          name,
          this.#authValue(name, value, `${place}/${escapePart(name)}`),
        ]);
        return [type, Object.fromEntries(entries)];
      }),
    );
  }

  #authValue(name: string, value: unknown, place: string): unknown {
    if (typeof value === "object" && value !== null) {
      return OPEN_AUTH.test(name) ? this.clean(value, name, place, 0) : this.#changed(value, LEFT_OUT, place);
    }
    if (typeof value !== "string" && typeof value !== "number") return value;
    const text = String(value);
    if (text.trim() === "" || /^\{\{[^{}]*\}\}$/.test(text.trim())) return value;
    const clean = OPEN_AUTH.test(name) ? (looksSecret(text) ? LEFT_OUT : cleanAuthText(text)) : LEFT_OUT;
    return this.#changed(value, clean === text ? value : clean, place);
  }

  #entry(name: string, value: unknown, place: string, { isSecret }: { isSecret: boolean }): unknown {
    if (typeof value === "number")
      return isCredential(name, `#${value}`) ? this.#changed(value, LEFT_OUT, place) : value;
    if (typeof value !== "string") return value;
    const isOpen = value.trim() === "" || /^\{\{[^{}]*\}\}$/.test(value.trim());
    if (isSecret && !isOpen) return this.#changed(value, LEFT_OUT, place);
    if (/^(?:set-)?cookie$/i.test(name)) return this.#changed(value, cleanCookies(value), place);
    if (/^(?:proxy-)?authorization$/i.test(name)) return this.#changed(value, cleanAuthorization(value), place);
    if (isCredential(name, value)) return this.#changed(value, LEFT_OUT, place);
    // The value of a variable or of a field can be JSON.
    return /^\s*[[{]/.test(value) ? this.#body(value, place) : this.#changed(value, cleanAuthText(value), place);
  }

  /** JSON, XML, a form or text. Parts of JSON are replaced by their places, because evidence names these. */
  #body(value: unknown, place: string): unknown {
    if (typeof value !== "string") return cleanValue(value, place, this.#places);
    const sample = /^\s*[[{"]/.test(value) ? jsonSample(value) : undefined;
    if (sample) {
      const found: Places = [];
      const clean = cleanValue(sample.value, place, found);
      this.#places.push(...found);
      const isStrict = !/\{\{/.test(value);
      const isChanged = JSON.stringify(clean, asText) !== JSON.stringify(sample.value, asText);
      if (!isChanged) return value;
      if (isStrict) return JSON.stringify(clean, asText, 2);
    }
    return this.#changed(value, cleanText(value), place);
  }

  #script(value: unknown, place: string): unknown {
    if (typeof value === "string") return this.#changed(value, cleanScript(value), place);
    if (!Array.isArray(value) || !value.every((line) => typeof line === "string")) return value;
    const text = value.join("\n");
    const clean = cleanScript(text);
    this.#changed(text, clean, place);
    // A line of the list may have several lines itself.
    const lines = clean.split("\n");
    let at = 0;
    return value.map((line: string) => {
      const count = line.split("\n").length;
      at += count;
      return lines.slice(at - count, at).join("\n");
    });
  }

  #changed<T>(before: unknown, after: T, place: string): T {
    if (before !== after || (typeof after === "string" && after.includes(LEFT_OUT))) this.#places.push(place);
    return after;
  }
}

interface MemberOf {
  name: string;
  member: unknown;
  place: string;
  /** The name of the object that has the member. */
  key: string;
  depth: number;
}

/** In texts with variables, and in other formats, by names and their signs. */
function cleanText(text: string): string {
  if (/^[^=&\s{}"<>]+=[^\n]*$/.test(text.trim())) {
    return text.replaceAll(/([^=&\s]+)=([^&\s]*)/g, (whole, name: string, value: string) =>
      isCredential(name, value) ? `${name}=${LEFT_OUT}` : whole,
    );
  }
  const named = text
    .replaceAll(
      /(["'])([\w.-]{1,60})\1(\s*:\s*)"((?:[^"\\\n]|\\.)*)"/g,
      (whole, quote: string, name: string, sign: string, value: string) =>
        isCredential(name, value) ? `${quote}${name}${quote}${sign}"${LEFT_OUT}"` : whole,
    )
    .replaceAll(
      /<((?:[\w.-]+:)?([\w.-]+))((?:\s[^<>]*)?)>([^<>]+)(?=<\/)/g,
      (whole, tag: string, name: string, rest: string, value: string) =>
        isCredential(name, value) ? `<${tag}${rest}>${XML_LEFT_OUT}` : whole,
    )
    .replaceAll(/(\s([\w.:-]{1,60})=")([^"<>]+)(?=")/g, (whole, lead: string, name: string, value: string) =>
      isCredentialName(name) && isCredential(name, value) ? lead + XML_LEFT_OUT : whole,
    );
  return cleanProse(named, /^\s*</.test(text) ? XML_LEFT_OUT : LEFT_OUT);
}

const XML_LEFT_OUT = LEFT_OUT.replace("<", "&lt;").replace(">", "&gt;");

function cleanHeaderLine(line: string): string {
  const [, lead = "", name = "", value = ""] = /^(\s*([^:\s]+)\s*:\s*)(.*)$/.exec(line.trimEnd()) ?? [];
  if (name === "") return cleanProse(line);
  if (/^(?:set-)?cookie$/i.test(name)) return lead + cleanCookies(value);
  if (/authorization$/i.test(name)) return lead + cleanAuthorization(value);
  return isCredential(name, value) ? lead + LEFT_OUT : line;
}

/** The scheme stays: it says how the credential is sent. */
function cleanAuthorization(value: string): string {
  const [, scheme = "", credential = ""] = /^([A-Za-z][\w-]*\s+)?(.*)$/s.exec(value) ?? [];
  const isOpen =
    credential.trim() === "" || credential === LEFT_OUT || /^(?:\{\{[^{}]*\}\}|<[\w -]+>)$/.test(credential.trim());
  return isOpen ? value : scheme + LEFT_OUT;
}

/** A value that may be an address. */
function cleanAuthText(text: string): string {
  return /^[a-z][\w+.-]*:\/\//i.test(text) ? cleanAddress(text) : cleanProse(text);
}

function asText(_: string, member: unknown): unknown {
  return typeof member === "bigint" ? String(member) : member;
}

/**
 * No text begins at an escaped quote: it cannot end at one either, so each of many would be read up to the end of the line.
 */
const TOKEN = /(?<!(?<!\\)(?:\\\\)*\\)(["'`])((?:\\.|(?!\1)[^\\\n])*)\1|[A-Za-z_$][\w$-]*|\d{4,}|[;{}\n]/g;
const USES_SECRET = /^(?:btoa|atob|CryptoJS|Hmac\w*|encrypt|sign\w*|authorization)$/i;
const WORDS =
  /^(?:https?:\/\/[^?#@]*|[\w.+-]+\/[\w.+-]+|(?:bearer|basic|token|hex|base64|utf-?8|string|number|object|undefined)\s*|\s*|[,:;.=&?/ -]+)$/i;

/**
 * A script without the texts that are credentials: those that look like one, and those after a name of one in the same
 * statement, as in `pm.environment.set("token", "…")`. Lines stay where they are.
 */
function cleanScript(text: string): string {
  let isSecret = false;
  const clean = text.replaceAll(TOKEN, (token, quote: string | undefined, inside: string | undefined) => {
    if (/^[;{}\n]$/.test(token)) {
      isSecret = false;
      return token;
    }
    if (quote === undefined || inside === undefined) {
      if (/^\d/.test(token)) return isSecret ? "0" : token;
      isSecret ||= mayBeSecretName(token) || USES_SECRET.test(token);
      return token;
    }
    const [, scheme = "", value = ""] = /^((?:bearer|basic|token)\s+)?(.*)$/is.exec(inside) ?? [];
    if (value.includes(LEFT_OUT) || value.includes("{{") || (quote === "`" && value.includes("${"))) return token;
    const isName = /^[\w .-]{1,60}$/.test(inside) && mayBeSecretName(inside) && !looksSecret(inside);
    if (isName) {
      isSecret = true;
      return token;
    }
    const isOwn = looksSecret(value, "path") || (isSecret && value.length >= 3 && !WORDS.test(inside));
    return isOwn ? `${quote}${scheme}${LEFT_OUT}${quote}` : token;
  });
  return cleanProse(clean);
}

/** An address without a user, without secret steps, and without the values of secret parameters. */
function cleanAddress(address: string): string {
  const bare = address.replace(/^((?:[a-z][\w+.-]*:)?\/\/)[^/?#{}]*@/i, "$1");
  const [, start = "", path = "", query = "", rest = ""] =
    /^((?:[a-z][\w+.-]*:\/\/)?[^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(bare) ?? [];
  const steps = path.split("/").map(cleanStep).join("/");
  const pairs = query.replaceAll(/([?&])([^=&?]*)=([^&]*)/g, (whole, sign: string, name: string, value: string) =>
    isCredential(percentDecoded(name), percentDecoded(value)) ? `${sign}${name}=${LEFT_OUT}` : whole,
  );
  return start + steps + pairs + (looksSecret(rest.slice(1)) ? "" : rest);
}

/** A step of a path that is a credential becomes a parameter. */
function cleanStep(step: string): string {
  const text = percentDecoded(step);
  return !/^[:{<]/.test(text) && !text.includes("{{") && looksSecret(text, "path") ? ":credential" : step;
}
