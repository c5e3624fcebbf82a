import { isUtf8 } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { parseTemplate, renderTemplate, type Template } from "../../expression/template.ts";
import { filledPlaces } from "../../file/model/filled-template.ts";
import type { HmacSignerSpec } from "../../file/model/tool-file.ts";
import type { SignableRequest } from "./signable-request.ts";

/** The values of the secrets and settings that a signature uses. */
export interface HmacSigning {
  key: string;
  id?: string | undefined;
  settings: Readonly<Record<string, string>>;
}

/** What changes with every request. */
export interface Moment {
  /** Seconds since 1970. */
  timestamp: string;
  /** As in the header Date. */
  date: string;
  nonce: string;
}

export function momentAt(now: number, nonce: string): Moment {
  return { timestamp: String(Math.floor(now / 1000)), date: new Date(now).toUTCString(), nonce };
}

/** The headers of a request with those of its signature. */
export function signedWithHmac(
  request: SignableRequest,
  spec: HmacSignerSpec,
  signing: HmacSigning,
  moment: Moment,
): Record<string, string> {
  const scope = scopeOf(request, spec, signing, moment);
  const signature = createHmac(spec.algorithm, signing.key)
    .update(signedBytes(spec.text, scope, request.body))
    .digest(spec.encoding);
  const own = Object.entries(spec.headers).map(
    ([name, text]) => [name.toLowerCase(), renderTemplate(text, { ...scope, signature })] as const,
  );
  return { ...request.headers, ...Object.fromEntries(own) };
}

/** The text of the template. A body that is not text is in it byte by byte. */
function signedBytes(text: string, scope: Record<string, unknown>, body: SignableRequest["body"]): string | Uint8Array {
  if (body === undefined || typeof body === "string" || isUtf8(body)) return renderTemplate(text, scope);
  const parts = parseTemplate(text).map((part) => {
    const isBody = typeof part !== "string" && part.kind === "name" && part.name === "body";
    return isBody ? body : Buffer.from(renderTemplate([part], scope), "utf8");
  });
  return Buffer.concat(parts);
}

/** Whether a received request has the signature of this key; `request.headers` has lower-case names. */
export function isSignedWithHmac(request: SignableRequest, spec: HmacSignerSpec, signing: HmacSigning): boolean {
  const moment: Moment = { timestamp: "", date: "", nonce: "" };
  for (const [name, text] of Object.entries(spec.headers)) {
    const found = valuesIn(parseTemplate(text), request.headers[name.toLowerCase()] ?? "");
    if (!found) return false;
    for (const key of ["timestamp", "date", "nonce"] as const) moment[key] = found.get(key) ?? moment[key];
  }
  const expected = signedWithHmac(request, spec, signing, moment);
  return Object.keys(spec.headers).every((name) => {
    const key = name.toLowerCase();
    return expected[key] === request.headers[key];
  });
}

/** The values that a text has at the names of its template. */
function valuesIn(template: Template, text: string): Map<string, string> | undefined {
  const places = template.filter((part) => typeof part !== "string");
  const values = filledPlaces(template.map((part) => (typeof part === "string" ? part : "{}")).join(""), text);
  if (!values) return undefined;
  return new Map(places.map((place, index) => [place.kind === "name" ? place.name : "", values[index] ?? ""]));
}

function scopeOf(
  { method, url, body = "" }: SignableRequest,
  { algorithm, encoding }: HmacSignerSpec,
  { id, settings }: HmacSigning,
  moment: Moment,
): Record<string, unknown> {
  const { host, pathname, search } = new URL(url);
  return {
    ...moment,
    method,
    host,
    path: pathname,
    query: search.slice(1),
    body: typeof body === "string" ? body : Buffer.from(body).toString("utf8"),
    bodyHash: createHash(algorithm).update(body).digest(encoding),
    settings,
    ...(id === undefined ? {} : { id }),
  };
}
