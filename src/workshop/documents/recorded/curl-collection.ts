import { isRecord } from "../../../json/is-record.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { jsonSample } from "../text/json-sample.ts";
import { isSecretName, mayBeSecretName } from "../../../masking/secret-names.ts";
import { maskExample, PLACEHOLDER, looksSecret } from "../../../masking/find-secrets.ts";
import type { CurlRequest } from "./curl-request.ts";

/** What browsers add to every request. */
const OF_BROWSERS =
  /^(?:sec-.*|accept-language|origin|referer|priority|dnt|pragma|upgrade-insecure-requests|if-none-match|if-modified-since|x-requested-with)$/i;

/** A collection with these items. */
export function collectionOf(
  name: string,
  item: readonly object[],
  variable: readonly object[] = [],
): Record<string, unknown> {
  return {
    info: { name, schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    ...(variable.length > 0 && { variable }),
    item,
  };
}

/** A request of a collection without the values of credentials. */
export function requestItem(
  request: CurlRequest,
  { name, description }: { name: string; description?: string },
): CollectionItem {
  const { url, user } = withoutUser(request.url);
  const auth = authOf(request, user);
  return {
    name,
    request: {
      method: request.method,
      ...(description !== undefined && { description }),
      url: urlOf(url),
      header: headersOf(request),
      ...(auth && { auth }),
      ...bodyOf(request),
    },
  };
}

interface CollectionItem {
  name: string;
  request: Record<string, unknown>;
}

function authOf({ headers, hasUser, bearer, awsSigning }: CurlRequest, user: boolean): object | undefined {
  if (awsSigning !== undefined) {
    const [, , region = "", service = ""] = awsSigning.split(":");
    const entries = Object.entries({ region, service }).filter(([, value]) => value !== "");
    return { type: "awsv4", awsv4: entries.map(([key, value]) => ({ key, value })) };
  }
  const [, value = ""] = headers.find(([name]) => name.toLowerCase() === "authorization") ?? [];
  if (bearer || /^bearer\s/i.test(value)) return { type: "bearer", bearer: [{ key: "token", value: "{{token}}" }] };
  return hasUser || user || /^basic\s/i.test(value) ? { type: "basic" } : undefined;
}

function headersOf({ headers, cookies, body }: CurlRequest): unknown[] {
  const kept = headers.flatMap(([key, value]) => {
    const lower = key.toLowerCase();
    if (OF_BROWSERS.test(key) || (lower === "authorization" && /^(?:bearer|basic)\s/i.test(value))) return [];
    const isSecret = lower === "authorization" || isSecretName(key) || looksSecret(value);
    return [{ key, value: isSecret ? `{{${variableName(key)}}}` : shown(key, value) }];
  });
  const hasType = headers.some(([name]) => name.toLowerCase() === "content-type");
  const isJson = body.kind === "text" && body.isJson;
  if (isJson && !hasType) kept.push({ key: "Content-Type", value: "application/json" });
  const jar = cookies.map(([name]) => `${name}={{${variableName(name)}}}`).join("; ");
  return jar === "" ? kept : [...kept, { key: "Cookie", value: jar }];
}

function bodyOf({ body }: CurlRequest): Record<string, unknown> {
  switch (body.kind) {
    case "none":
      return {};
    case "file":
      return { body: { mode: "file" } };
    case "form": {
      const urlencoded = [...new URLSearchParams(body.text)].map(([key, value]) => ({ key, value: shown(key, value) }));
      return { body: { mode: "urlencoded", urlencoded } };
    }
    case "parts": {
      const formdata = body.parts.map(({ name, value, isFile, contentType }) => ({
        key: name,
        ...(isFile ? { type: "file" } : { type: "text", value: shown(name, value) }),
        ...(contentType !== undefined && { contentType }),
      }));
      return { body: { mode: "formdata", formdata } };
    }
    case "text": {
      const sample = body.isJson ? jsonSample(body.text) : undefined;
      const raw = sample ? jsonText(withoutSecrets(sample.value)) : maskExample(body.text);
      return { body: { mode: "raw", raw, ...(body.isJson && { options: { raw: { language: "json" } } }) } };
    }
  }
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? String(member) : member), 2);
}

/** The same value without the credentials in it: also inside of what is called one, and in pairs of name and value. */
function withoutSecrets(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name));
  if (isRecord(value)) {
    const called = [value["name"], value["key"], value["type"]].find((each) => typeof each === "string");
    const pair = typeof called === "string" && mayBeSecretName(called) ? called : undefined;
    const members = Object.entries(value).filter(([key]) => !looksSecret(key));
    return Object.fromEntries(
      members.map(([key, member]) => {
        const own = pair !== undefined && key === "value" ? pair : key;
        return [key, withoutSecrets(member, mayBeSecretName(name) ? name : own)];
      }),
    );
  }
  if (typeof value === "number" || typeof value === "bigint") return mayBeSecretName(name) ? 0 : value;
  return typeof value === "string" ? shown(name, value) : value;
}

function shown(name: string, value: string): string {
  return mayBeSecretName(name) || looksSecret(value) ? PLACEHOLDER : maskExample(value);
}

/** `https://user:password@api.example/` has credentials for Basic authentication; the last @ is the one that counts. */
function withoutUser(url: string): { url: string; user: boolean } {
  const bare = url.replace(/^((?:[a-z][\w+.-]*:)?\/\/)?[^/?#]*@/i, "$1");
  return { url: bare, user: bare !== url };
}

/** With variables in place of ids: `orders/17` is `orders/:orderId`. */
function urlOf(url: string): Record<string, unknown> {
  const [, start = "", path = "", query = "", hash = ""] =
    /^((?:[a-z][\w+.-]*:\/\/)?[^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?/is.exec(url) ?? [];
  const [, scheme, host = ""] = /^(?:([a-z][\w+.-]*):\/\/)?(.*)$/i.exec(start) ?? [];
  // The value of a variable may begin with its own.
  const protocol = scheme ?? (host.startsWith("{{") ? undefined : "https");
  const variable: { key: string; value: string }[] = [];
  let before = "";
  const segments = path
    .split("/")
    .slice(1)
    .map((segment) => {
      const text = percentDecoded(segment);
      // As documentation writes it: {orderId}, <orderId> or :orderId.
      const [, written] =
        /^(?:\{([\w-]+)\}|<([\w -]+)>|:([\w-]+))$/.exec(text)?.filter((part) => part !== undefined) ?? [];
      if (written !== undefined) return `:${written}`;
      if (
        !/^\d+$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) &&
        !looksSecret(text, "path")
      ) {
        before = text;
        return segment;
      }
      const base = `${singular(before)}Id`;
      let key = base;
      for (let count = 2; variable.some((one) => one.key === key); count++) key = `${base}${count}`;
      variable.push({ key, value: looksSecret(text, "path") ? "" : text });
      return `:${key}`;
    });
  const pairs = [...new URLSearchParams(query)].filter(([key]) => key !== "" && !looksSecret(key));
  return {
    ...(protocol !== undefined && { protocol }),
    host: host.split("."),
    path: segments,
    query: pairs.map(([key, value]) => {
      const isSecret = isSecretName(key) || looksSecret(value);
      return { key, value: isSecret ? `{{${variableName(key)}}}` : shown(key, value) };
    }),
    variable,
    // It is never sent, but may be a part of the path: the reader has to know.
    ...(hash !== "" && { hash: maskExample(hash) }),
  };
}

/** The name of the variable for a credential; it says that it is one. */
function variableName(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return isSecretName(word) ? word : `${word}_secret`;
}

function singular(word: string): string {
  const name = word.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, sign: string) => sign.toUpperCase()).replaceAll(/\W/g, "");
  const one = /[^s]s$/.test(name) ? name.slice(0, -1) : name;
  return one === "" || /^\d/.test(one) ? "item" : one.charAt(0).toLowerCase() + one.slice(1);
}
