/**
 * How surely a value of this name is a secret. `credential`: also where an API is described. `secret`: its value is never
 * shown. `private`: in data it is often something else, but in commands, variables, headers and recorded requests it is
 * not shown.
 */
type Kind = "credential" | "secret" | "private";

const WORDS: Readonly<Record<Kind, readonly string[]>> = {
  credential: words("apikey jwt passwd password secret secrets token"),
  secret: words(
    `auth authentication authorization bearer cookie cookies credential credentials cvc cvv dsn kennwort oauth otp
    passcode passphrase passwort pat pin pwd sas totp xauth`,
  ),
  private: words("csrf hmac key keys nonce pass pw session sessions sid sig signature xsrf"),
};

const KINDS = new Map(Object.entries(WORDS).flatMap(([kind, all]) => all.map((word) => [word, kind as Kind] as const)));

/** Names without separators between their words. */
const CREDENTIAL_KEY = /^x?x?(?:api|access|app|auth|subscription|secret|private|client)key$/;
const CREDENTIAL_JOINED =
  /apikey|accesstoken|authtoken|bearertoken|clientsecret|secretkey|apisecret|apitoken|privatetoken/;
const SECRET_JOINED =
  /token(?!s|i[sz])|secret(?!ar|ion)|passw(?:or)?d|credential|(?:api|access|private|subscription|signing|encryption|master|account|storage|service)keys?|(?:api|access|auth|bearer|refresh)tokens|connectionstring|authorization/;
const PRIVATE_JOINED = /session|pwd|signature/;

/** A token of these continues a list, or counts for one request. */
const CONTINUES = new Set(words("continuation cursor next page pagination prev previous start sync"));
/** Of a session or one form: not a credential of an API. */
const OF_SESSION = new Set(words("csrf session xsrf"));
/** What a name that ends so says is about a secret, and is none. */
const ABOUT = new Set(
  words(
    `algorithm alg bytes count directory dir endpoint enabled env expire expired expires expiration expiry file filename
    folder format hint length lifetime limit method mode name path policy required state status ttl type uri url usage
    var version`,
  ),
);
/** A yes or no about a secret. */
const SWITCH = new Set(words("allow disable enable has is needs no require requires skip without"));
/** Keys that name something. */
const OPEN_KEYS = new Set(
  words(
    `cache composite foreign group hash idempotency index issue lookup map message natural object partition primary
    project public range route routing row shift sort translation unique`,
  ),
);

/** Whether a value of this name is a secret. The one list for arguments, variables, headers, parameters and members. */
export function isSecretName(name: string): boolean {
  const kind = kindOf(name);
  return kind === "credential" || kind === "secret";
}

/**
 * The same, and names that are also used for what is not secret, such as `key` and `session`. For commands, variables,
 * headers, queries and recorded requests, where hiding too much spoils nothing.
 */
export function mayBeSecretName(name: string): boolean {
  return kindOf(name) !== undefined;
}

/** Whether a parameter of an API with this name takes a credential. */
export function isCredentialName(name: string): boolean {
  const parts = partsOf(name);
  const isOfSession = parts.some((part) => OF_SESSION.has(part));
  return (
    kindOf(name) === "credential" && (!isOfSession || parts.some((part) => /^(?:secret|passw(?:or)?d)$/.test(part)))
  );
}

const ACCOUNT =
  /^(?:user(?:_?(?:name|id|code))?|login(?:_?name)?|account(?:_?(?:name|id))?|client(?:_?id)?|partner(?:_?id)?|customer_?id|merchant(?:_?id)?|system|benutzer(?:name)?|mandant|kunde(?:nnummer)?|app_?id|tenant(?:_?id)?)$/i;

/** Whether a value of this name says whose a credential is; beside one, it belongs to it. */
export function isAccountName(name: string): boolean {
  return ACCOUNT.test(name);
}

/** The words of a name, in lower case: of `X-APIKey` and `refreshToken` as well. */
export function partsOf(name: string): string[] {
  return name
    .slice(0, MAX_NAME)
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== "");
}

/** Longer names are not read to their end. */
const MAX_NAME = 300;

function kindOf(name: string): Kind | undefined {
  // The working folder, in every environment.
  if (name === "PWD" || name === "OLDPWD") return undefined;
  const parts = partsOf(name);
  const joined = parts.join("");
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (SWITCH.has(first) || (parts.length > 1 && ABOUT.has(last))) return undefined;
  const kinds = parts.map((part) => (part === "key" || part === "keys" ? keyKind(parts) : KINDS.get(part)));
  const isPassword = parts.some((part) => /^(?:secrets?|passw(?:or)?d)$/.test(part));
  if (parts.some((part) => CONTINUES.has(part)) && !isPassword) return undefined;
  if (kinds.includes("credential") || CREDENTIAL_KEY.test(joined) || CREDENTIAL_JOINED.test(joined))
    return "credential";
  if (kinds.includes("secret") || SECRET_JOINED.test(joined) || /connstr$|xauth$/.test(joined)) return "secret";
  return kinds.includes("private") || PRIVATE_JOINED.test(joined) ? "private" : undefined;
}

/** A primary key is none. */
function keyKind(parts: readonly string[]): Kind | undefined {
  return parts.some((part) => OPEN_KEYS.has(part)) ? undefined : "private";
}

function words(text: string): string[] {
  return text.split(/\s+/);
}
