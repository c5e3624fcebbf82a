import { randomUUID, createHash, createHmac } from "node:crypto";
import type { SignerSpec, HmacSignerSpec } from "../../file/model/tool-file.ts";
import { isSignedForAws, signedForAws, type AwsSigning } from "./aws-sigv4.ts";
import type { SignableRequest } from "./signable-request.ts";
import { isUtf8 } from "node:buffer";
import { parseTemplate, renderTemplate, type Template } from "../../expression/template.ts";
import { filledPlaces } from "../../file/model/filled-template.ts";

/** What a built-in signer needs beside the request. */
interface SigningValues {
  /** The value of a secret by its name in the file. */
  secret: (name: string) => string;
  settings: Readonly<Record<string, string>>;
}

/** The headers of a finished request with those of its signature. */
export function signedHeaders(
  spec: SignerSpec,
  request: SignableRequest,
  values: SigningValues,
  now: number,
): Record<string, string> {
  if (spec.kind === "aws-sigv4") return signedForAws(request, awsSigning(spec, values), now);
  return signedWithHmac(request, spec, hmacSigning(spec, values), momentAt(now, randomUUID()));
}

/** Whether a received request is signed as the file says; the names of its headers are lower-case. */
export function isSigned(spec: SignerSpec, request: SignableRequest, values: SigningValues): boolean {
  if (spec.kind === "aws-sigv4") return isSignedForAws(request, awsSigning(spec, values));
  return isSignedWithHmac(request, spec, hmacSigning(spec, values));
}

function awsSigning(spec: Extract<SignerSpec, { kind: "aws-sigv4" }>, { secret }: SigningValues): AwsSigning {
  const { service, region, accessKey, secretKey, sessionToken } = spec;
  return {
    service,
    region,
    accessKey: secret(accessKey),
    secretKey: secret(secretKey),
    ...(sessionToken === undefined ? {} : { sessionToken: secret(sessionToken) }),
  };
}

function hmacSigning(
  { key, id }: Extract<SignerSpec, { kind: "hmac" }>,
  { secret, settings }: SigningValues,
): HmacSigning {
  return { key: secret(key), settings, ...(id === undefined ? {} : { id: secret(id) }) };
}

/** The values of the secrets and settings that a signature uses. */
interface HmacSigning {
  key: string;
  id?: string | undefined;
  settings: Readonly<Record<string, string>>;
}

/** What changes with every request. */
interface Moment {
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
