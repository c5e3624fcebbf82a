import type { KeyObject } from "node:crypto";
import {
  type Client,
  type ClientAuth,
  ClientSecretPost,
  clockTolerance,
  modifyAssertion,
  None,
  PrivateKeyJwt,
} from "oauth4webapi";
import { NexusError } from "../../errors/nexus-error.ts";
import type { GrantRequest } from "./grant-request.ts";

type AuthenticatedClient = Pick<GrantRequest, "client" | "settings">;

/** An ID token in an answer is not used for anything, so a wrong clock must not make the answer invalid. */
const CLOCK_TOLERANCE_S = 600;

/** The client as oauth4webapi describes it. */
export function oauthClient({ client }: Pick<GrantRequest, "client">): Client {
  return { client_id: client.clientId, [clockTolerance]: CLOCK_TOLERANCE_S };
}

/** How the client identifies itself at the token endpoint. */
export async function clientAuthentication({ client, settings }: AuthenticatedClient): Promise<ClientAuth> {
  switch (client.authentication) {
    case "none":
      return None();
    case "client_secret_basic":
    case "client_secret_post":
      return secretAuthentication(client.authentication, secretOf(client));
    case "private_key_jwt":
      return signedAssertion(settings);
  }
}

export function secretAuthentication(method: "client_secret_basic" | "client_secret_post", secret: string): ClientAuth {
  if (method === "client_secret_post") return ClientSecretPost(secret);
  // oauth4webapi also encodes `-`, `.` and `_`, and many servers do not decode: only what must be encoded is.
  return (_server, { client_id }, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(client_id)}:${formEncoded(secret)}`)}`);
  };
}

/** RFC 6749, appendix B. */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function secretOf({ clientId, clientSecret }: GrantRequest["client"]): string {
  if (clientSecret) return clientSecret;
  throw new NexusError("CONFIG_INVALID", `The OAuth client "${clientId}" authenticates with a secret, but has none`, {
    phase: "config",
    hint: "Set the client's secret in the server's oauth settings.",
  });
}

/** `aud` of the assertion is the issuer, as RFC 7523bis requires. */
async function signedAssertion({ privateKey, signingAlgorithm, keyId }: GrantRequest["settings"]): Promise<ClientAuth> {
  if (!privateKey) throw unusableKey("is missing");
  const own = readKey(privateKey);
  const algorithm = signingAlgorithm ?? algorithmOf(own);
  if (!algorithm) throw unusableKey(`has the type ${own.asymmetricKeyType ?? "unknown"}, which cannot sign a JWT`);
  const { importPKCS8 } = await import("jose");
  const key = await importPKCS8(own.export({ type: "pkcs8", format: "pem" }).toString(), algorithm).catch(() => {
    throw unusableKey(`cannot be used with the algorithm ${algorithm}`);
  });
  return PrivateKeyJwt(keyId ? { key, kid: keyId } : key, {
    // oauth4webapi writes Ed25519 where EdDSA was registered.
    [modifyAssertion]: (header) => void (header["alg"] = algorithm),
  });
}

/** Also reads keys that are not PKCS #8, and those of an environment variable in which line breaks are written as \n. */
function readKey(pem: string): KeyObject {
  // Of the runtime, where it has one: a page has no private key, and this file is loaded with each login.
  const platform = typeof process === "undefined" ? undefined : process.getBuiltinModule("node:crypto");
  if (!platform) throw unusableKey("cannot be used in a browser");
  try {
    return platform.createPrivateKey(pem.replaceAll("\\n", "\n"));
  } catch {
    // The error of the platform has no cause of its own to show, and must not show the key.
    throw unusableKey("is not a readable PEM");
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  const ofCurve: Record<string, string> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  return asymmetricKeyType === "ec" ? ofCurve[asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
}

function unusableKey(problem: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The private key of the OAuth client ${problem}`, {
    phase: "config",
    hint: 'Set a PKCS #8 key ("-----BEGIN PRIVATE KEY-----") and its algorithm, for example ES256.',
  });
}
