import { createHash, createHmac } from "node:crypto";
import { percentDecoded } from "../../../text/percent-decoded.ts";
import { percentEncoded } from "../../codec/parameter/form-text.ts";
import type { SignableRequest } from "./signable-request.ts";

/** What a signature of AWS (version 4) depends on, beside the request. */
export interface AwsSigning {
  service: string;
  region: string;
  accessKey: string;
  secretKey: string;
  sessionToken?: string | undefined;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
/** Changed or added on the way, so they cannot be signed. */
const UNSIGNED = new Set([
  "authorization",
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "te",
  "transfer-encoding",
  "user-agent",
  "x-amzn-trace-id",
]);

/** The headers of a request with those of its signature. */
export function signedForAws(request: SignableRequest, signing: AwsSigning, now: number): Record<string, string> {
  const date = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-date": date,
    ...(signing.sessionToken === undefined ? {} : { "x-amz-security-token": signing.sessionToken }),
    // Only this service requires it.
    ...(signing.service === "s3" ? { "x-amz-content-sha256": sha256(request.body ?? "") } : {}),
  };
  const names = [...Object.keys(headers).map((name) => name.toLowerCase()), "host"];
  const signed = [...new Set(names)].filter((name) => !UNSIGNED.has(name)).sort();
  const signature = awsSignature({ ...request, headers }, signing, { date, signed });
  const credential = `${signing.accessKey}/${scopeOf(date, signing)}`;
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${credential}, SignedHeaders=${signed.join(";")}, Signature=${signature}`,
  };
}

/** Whether a received request has the signature of these keys; `request.headers` has lower-case names. */
export function isSignedForAws(request: SignableRequest, signing: AwsSigning): boolean {
  const { authorization = "", "x-amz-date": date = "", "x-amz-security-token": token } = request.headers;
  const [, credential, names = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), *SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$/.exec(authorization) ??
    [];
  const signed = names.split(";");
  if (credential !== `${signing.accessKey}/${scopeOf(date, signing)}` || token !== signing.sessionToken) return false;
  if (!signed.includes("host") || !signed.includes("x-amz-date")) return false;
  return signature === awsSignature(request, signing, { date, signed });
}

function awsSignature(
  request: SignableRequest,
  signing: AwsSigning,
  { date, signed }: { date: string; signed: readonly string[] },
): string {
  const canonical = canonicalRequest(request, signing.service, signed);
  const text = [ALGORITHM, date, scopeOf(date, signing), sha256(canonical)].join("\n");
  const parts = [date.slice(0, 8), signing.region, signing.service, "aws4_request"];
  const key = parts.reduce<Buffer>((by, part) => hmac(by, part), Buffer.from(`AWS4${signing.secretKey}`));
  return hmac(key, text).toString("hex");
}

function canonicalRequest(
  { method, url, headers, body = "" }: SignableRequest,
  service: string,
  signed: readonly string[],
): string {
  const { host, pathname, search } = new URL(url);
  const all = new Map(Object.entries({ host, ...headers }).map(([name, value]) => [name.toLowerCase(), value]));
  const lines = signed.map((name) => `${name}:${(all.get(name) ?? "").trim().replaceAll(/ +/g, " ")}\n`);
  const segments = pathname.split("/");
  // The path is encoded once more, except that of objects in S3, whose names may have any characters.
  const path = service === "s3" ? pathname : segments.map(encoded).join("/");
  const query = search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=");
      const [name, value] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
      return [encoded(percentDecoded(name)), encoded(percentDecoded(value))] as const;
    })
    .sort(([a, x], [b, y]) => compared(a, b) || compared(x, y))
    .map((pair) => pair.join("="))
    .join("&");
  const hash = all.get("x-amz-content-sha256") ?? sha256(body);
  return [method, path, query, lines.join(""), signed.join(";"), hash].join("\n");
}

function scopeOf(date: string, { region, service }: AwsSigning): string {
  return `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
}

/** By code, as the specification wants it, not by language. */
function compared(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function encoded(text: string): string {
  return percentEncoded(text, "the address");
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
