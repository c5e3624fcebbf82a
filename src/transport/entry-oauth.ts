import type { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import { nearestName } from "../text/nearest-name.ts";

/** The `oauth` key of an entry, checked and with unified spellings. Files are not read yet. */
export interface EntryOAuth {
  grant?: OAuthGrant | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  privateKey?: string | undefined;
  /** A file with the private key (PEM). */
  privateKeyFile?: string | undefined;
  signingAlgorithm?: string | undefined;
  keyId?: string | undefined;
  issuer?: string | undefined;
  clientMetadataUrl?: string | undefined;
  clientName?: string | undefined;
  scopes?: readonly string[] | undefined;
  redirectUrl?: string | undefined;
  callbackPort?: number | undefined;
  assertion?: string | undefined;
  /** A file with the assertion, which is read whenever one is needed. */
  assertionFile?: string | undefined;
  identityProvider?: EntryIdentityProvider | undefined;
  dpop?: boolean | undefined;
}

export interface EntryIdentityProvider {
  issuer: string;
  tokenEndpoint?: string | undefined;
  clientId: string;
  clientSecret?: string | undefined;
  idToken?: string | undefined;
  /** A file with the ID token, which is read whenever it is needed. */
  idTokenFile?: string | undefined;
}

/** The `oauth` key as users write it, in the library. */
export type WrittenOAuth = boolean | EntryOAuth;

const GRANTS = ["authorization_code", "device_code", "client_credentials", "jwt_bearer", "enterprise"] as const;
/** How a program obtains a token. `authorization_code` and `device_code` need a person. */
export type OAuthGrant = (typeof GRANTS)[number];

/** Whether a person has to log in for a token. */
export function needsPerson(grant: OAuthGrant = "authorization_code"): boolean {
  return grant === "authorization_code" || grant === "device_code";
}

/** Names of grants in the standards. */
const STANDARD_GRANTS: Readonly<Record<string, OAuthGrant>> = {
  "urn:ietf:params:oauth:grant-type:device_code": "device_code",
  "urn:ietf:params:oauth:grant-type:jwt-bearer": "jwt_bearer",
};

/** Our key for each key of other programs. */
const SYNONYMS: Readonly<Record<string, string>> = {
  client_id: "clientId",
  CLIENT_ID: "clientId",
  client_secret: "clientSecret",
  CLIENT_SECRET: "clientSecret",
  client_name: "clientName",
  client_metadata_url: "clientMetadataUrl",
  scope: "scopes",
  redirectUri: "redirectUrl",
  redirect_uri: "redirectUrl",
  redirect_url: "redirectUrl",
  callback_port: "callbackPort",
  grant_type: "grant",
  grantType: "grant",
  private_key: "privateKey",
  private_key_file: "privateKeyFile",
  signing_algorithm: "signingAlgorithm",
  key_id: "keyId",
  assertion_file: "assertionFile",
  identity_provider: "identityProvider",
  token_endpoint: "tokenEndpoint",
  id_token: "idToken",
  id_token_file: "idTokenFile",
};

function ownKey(key: string): string {
  return (Object.hasOwn(SYNONYMS, key) ? SYNONYMS[key] : undefined) ?? key;
}

/** Keys of other programs for what Nexus finds out by itself, or does not need. */
export const OAUTH_WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  "authorizationUrl",
  "tokenUrl",
  "registrationUrl",
  "tokenParamName",
  "audiences",
  "authServerMetadataUrl",
]);

const TEXTS = [
  "clientId",
  "clientSecret",
  "privateKey",
  "privateKeyFile",
  "signingAlgorithm",
  "keyId",
  "issuer",
  "clientMetadataUrl",
  "clientName",
  "redirectUrl",
  "assertion",
  "assertionFile",
] as const;
const KEYS = [...TEXTS, "grant", "scopes", "callbackPort", "identityProvider", "dpop"];
const PROVIDER_TEXTS = ["issuer", "tokenEndpoint", "clientId", "clientSecret", "idToken", "idTokenFile"] as const;

/** All keys that are written in `oauth`. */
export const OAUTH_KEYS: readonly string[] = [
  ...new Set([...KEYS, ...PROVIDER_TEXTS, ...Object.keys(SYNONYMS), ...OAUTH_WITHOUT_EFFECT, "enabled"]),
];

/** Keys, also nested ones, that name a file of this machine. */
export const OAUTH_FILES: ReadonlySet<string> = new Set(OAUTH_KEYS.filter((key) => /file$/i.test(key)));

const CREDENTIALS = new Set(["clientSecret", "privateKey", "assertion"]);
const PROVIDER_CREDENTIALS = new Set(["clientSecret", "idToken"]);

/** Whether these keys below `oauth` lead to a value that is secret. An id of a client is not: it is shown where logins are. */
export function isOAuthCredential(path: readonly string[]): boolean {
  const [key = "", inner = "", ...more] = path.map(ownKey);
  if (path.length === 1) return CREDENTIALS.has(key);
  return key === "identityProvider" && PROVIDER_CREDENTIALS.has(inner) && more.length === 0;
}

/** Whether this key has a key that signs and is never sent. */
export function isOAuthKey(key: string): boolean {
  return ownKey(key) === "privateKey";
}

/** Makes the error for a problem at a key below `oauth`. */
export type OAuthFault = (problem: string, hint: string | undefined, path: readonly string[]) => NexusError;

/** False: no authorization. Undefined: nothing is written. */
export function readOAuth(value: unknown, fault: OAuthFault): EntryOAuth | false | undefined {
  if (value === undefined || value === false) return value;
  if (value === true) return {};
  if (!isRecord(value)) {
    throw fault(
      `"oauth" is not true, false or an object`,
      `Write "oauth": { "clientId": "…" }, or leave "oauth" out.`,
      [],
    );
  }
  const { enabled, ...rest } = value;
  if (enabled === false) return false;
  return new OAuthReader(rest, fault, []).read();
}

class OAuthReader {
  readonly #members = new Map<string, unknown>();
  /** As written, by our key. */
  readonly #written = new Map<string, string>();
  readonly #fault: OAuthFault;
  readonly #path: readonly string[];

  constructor(value: Record<string, unknown>, fault: OAuthFault, path: readonly string[]) {
    this.#fault = fault;
    this.#path = path;
    for (const [key, member] of Object.entries(value)) {
      if (member === null || member === undefined) continue;
      const own = ownKey(key);
      const other = this.#written.get(own);
      if (other !== undefined) throw this.#invalid(own, `and "${other}" are synonyms`, "Delete one of them.", key);
      this.#written.set(own, key);
      this.#members.set(own, member);
    }
  }

  read(): EntryOAuth {
    this.#refuseUnknown(KEYS);
    const scopes = this.#scopes();
    const read: EntryOAuth = {
      ...this.#texts(TEXTS),
      ...defined({ grant: this.#grant(), scopes, callbackPort: this.#port(), dpop: this.#boolean("dpop") }),
      ...defined({ identityProvider: this.#provider() }),
    };
    this.#refusePairs(["privateKey", "privateKeyFile"], ["assertion", "assertionFile"]);
    return read;
  }

  #provider(): EntryIdentityProvider | undefined {
    const value = this.#members.get("identityProvider");
    if (value === undefined) return undefined;
    const hint = `Write { "issuer": "https://…", "clientId": "…", "idTokenFile": "…" }.`;
    if (!isRecord(value)) throw this.#invalid("identityProvider", "is not an object", hint);
    const own = [...this.#path, this.#written.get("identityProvider") ?? "identityProvider"];
    return new OAuthReader(value, this.#fault, own).readProvider(hint);
  }

  readProvider(hint: string): EntryIdentityProvider {
    this.#refuseUnknown(PROVIDER_TEXTS);
    const { issuer, clientId, ...rest } = this.#texts(PROVIDER_TEXTS);
    if (issuer === undefined) throw this.#invalid("issuer", "is missing", hint);
    if (clientId === undefined) throw this.#invalid("clientId", "is missing", hint);
    this.#refusePairs(["idToken", "idTokenFile"]);
    if (rest.idToken === undefined && rest.idTokenFile === undefined) {
      throw this.#invalid("idToken", `is missing, and also "idTokenFile"`, hint);
    }
    return { issuer, clientId, ...rest };
  }

  #refuseUnknown(keys: readonly string[]): void {
    for (const [own, key] of this.#written) {
      if (keys.includes(own) || OAUTH_WITHOUT_EFFECT.has(key)) continue;
      const meant = nearestName(key, keys);
      const hint = meant === undefined ? `The keys are: ${keys.join(", ")}.` : `Did you mean "${meant}"?`;
      throw this.#invalid(own, "is an unknown key", hint);
    }
  }

  /** A value and the file that has it. */
  #refusePairs(...pairs: readonly (readonly [string, string])[]): void {
    for (const [one, other] of pairs) {
      if (!this.#members.has(one) || !this.#members.has(other)) continue;
      throw this.#invalid(other, `and "${this.#written.get(one)}" are both written`, "Delete one of them.");
    }
  }

  #texts<Key extends string>(keys: readonly Key[]): Partial<Record<Key, string>> {
    const texts: Partial<Record<Key, string>> = {};
    for (const key of keys) {
      const value = this.#members.get(key);
      if (value === undefined) continue;
      if (typeof value !== "string") throw this.#invalid(key, "is not text", "Put it in quotes.");
      if (value.trim() === "") throw this.#invalid(key, "is empty", "Write a value, or delete the key.");
      texts[key] = value;
    }
    return texts;
  }

  #grant(): OAuthGrant | undefined {
    const value = this.#members.get("grant");
    if (value === undefined) return undefined;
    const known = GRANTS.find((grant) => grant === value);
    const standard = typeof value === "string" && Object.hasOwn(STANDARD_GRANTS, value) && STANDARD_GRANTS[value];
    if (known ?? standard) return known ?? (standard || undefined);
    throw this.#invalid("grant", "is not a known grant", `Use one of: ${GRANTS.join(", ")}.`);
  }

  #scopes(): readonly string[] | undefined {
    const value = this.#members.get("scopes");
    if (value === undefined) return undefined;
    const list = typeof value === "string" ? value.split(/\s+/).filter((scope) => scope !== "") : value;
    if (Array.isArray(list) && list.every((scope) => typeof scope === "string" && /^\S+$/.test(scope))) return list;
    throw this.#invalid("scopes", "is neither text nor a list of texts", `Write ["read", "write"] or "read write".`);
  }

  #port(): number | undefined {
    const value = this.#members.get("callbackPort");
    if (value === undefined) return undefined;
    // The value of a variable is text.
    const port = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536) return port;
    throw this.#invalid("callbackPort", "is not a port", "Write a number from 1 to 65535.");
  }

  #boolean(key: string): boolean | undefined {
    const value = this.#members.get(key);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.#invalid(key, "is not true or false", `Write true or false, without quotes.`);
  }

  #invalid(own: string, problem: string, hint: string, key = this.#written.get(own) ?? own): NexusError {
    const path = [...this.#path, key];
    return this.#fault(`"${["oauth", ...path].join(".")}" ${problem}`, hint, path);
  }
}

function defined<T extends object>(values: T): Partial<T> {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Partial<T>;
}
