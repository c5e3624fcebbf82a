import { randomUUID } from "node:crypto";
import type { SignerSpec } from "../../file/model/tool-file.ts";
import { isSignedForAws, signedForAws, type AwsSigning } from "./aws-sigv4.ts";
import { isSignedWithHmac, momentAt, signedWithHmac, type HmacSigning } from "./hmac.ts";
import type { SignableRequest } from "./signable-request.ts";

/** What a built-in signer needs beside the request. */
export interface SigningValues {
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
