import { filledPlaces } from "./filled-template.ts";
import type { SecretsSpec, SignerSpec, ToolFile } from "./tool-file.ts";

/** The input fields in the name of a secret. */
export function fieldsInName(name: string): string[] {
  return [...name.matchAll(/\{([^{}]*)\}/g)].map(([, field = ""]) => field);
}

/** All secret names of a set. */
export function secretNames(spec: SecretsSpec): string[] {
  const { query, headers, bearer, basic, cookies = {}, body = {} } = spec;
  const sent = [query, headers, cookies, body].flatMap((place) => Object.values(place));
  const named = [...sent, bearer, basic?.user, basic?.password, ...tokenSecretNames(spec), ...signingNames(spec.sign)];
  return [...new Set(named.filter((name) => name !== undefined))];
}

/** Those that are sent to the token endpoint, and never with a request of a tool. */
function tokenSecretNames({ oauth }: Pick<SecretsSpec, "oauth">): string[] {
  const { clientId, clientSecret, refreshToken } = oauth ?? {};
  return [clientId, clientSecret, refreshToken].filter((name) => name !== undefined);
}

/** Those of a built-in signer. */
export function signingNames(sign: string | SignerSpec | undefined): string[] {
  if (typeof sign !== "object") return [];
  const named = sign.kind === "hmac" ? [sign.id, sign.key] : [sign.accessKey, sign.secretKey, sign.sessionToken];
  return named.filter((name) => name !== undefined);
}

/** The names under which its secrets have to be stored for a server; default: a server with the name of the API. */
export function neededSecrets({ api, secrets }: ToolFile, server = api): string[] {
  return [...new Set(Object.values(secrets).flatMap(secretNames))].map((name) => `${server}.${name}`);
}

/**
 * The address that a secret is sent to: the token endpoint, or that of the requests. `name`: without the server, with the
 * values of fields.
 */
export function addressOfSecret({ secrets, tools, upstream }: ToolFile, name: string): string {
  const isAmong = (names: readonly string[]) => names.some((known) => filledPlaces(known, name) !== undefined);
  for (const [set, spec] of Object.entries(secrets)) {
    if (spec.oauth && isAmong(tokenSecretNames(spec))) return spec.oauth.tokenUrl;
    if (!isAmong(secretNames(spec))) continue;
    const uses = Object.values(tools).flatMap(({ request }) => (request?.secrets === set ? [request] : []));
    return uses[0]?.base ?? upstream.base;
  }
  return upstream.base;
}
