/** The beginnings of well-known tokens. */
const KNOWN =
  /^(?:bot\d{5,}:|eyJ[\w-]{8,}\.|sk[-_]|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|ya29\.|SG\.|shp(?:at|ss)_|npm_|dop_v1_|Bearer\s|Basic\s)/;

/** Whether a value is probably a credential: the token of a known service, or long and random. */
export function looksSecret(value: string): boolean {
  const text = value.trim();
  if (text.includes("{{") || /^<.*>$/.test(text)) return false;
  if (KNOWN.test(text) && text.length >= 12) return true;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(text)) return false;
  if (/^[0-9a-f]{32,}$/i.test(text)) return true;
  const isRandom = /^[\w+/=.:-]{32,}$/.test(text) && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return isRandom && !text.includes("://");
}

/** Whether a variable, header or parameter of this name has a credential. */
export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const joined = words.join("");
  if (/^(?:x?api|access|app|auth|subscription|secret|private|client)key$/.test(joined.replace(/^x/, ""))) return true;
  if (/apikey|accesstoken|authtoken|bearertoken|clientsecret|secretkey|apisecret|apitoken|privatetoken/.test(joined)) {
    return true;
  }
  // A page token continues a list; a request token and the like are values of their own.
  if (words.some((word) => ["page", "next", "sync", "continuation", "session", "csrf", "xsrf"].includes(word))) {
    return words.some((word) => ["secret", "password", "passwd"].includes(word));
  }
  return words.some((word) => ["secret", "password", "passwd", "token", "jwt", "apikey"].includes(word));
}

const ACCOUNT =
  /^(?:user(?:_?(?:name|id|code))?|login(?:_?name)?|account(?:_?(?:name|id))?|client(?:_?id)?|partner(?:_?id)?|customer_?id|merchant(?:_?id)?|system|benutzer(?:name)?|mandant|kunde(?:nnummer)?|app_?id|tenant(?:_?id)?)$/i;

/** Whether a value of this name says whose a credential is; beside one, it belongs to it. */
export function isAccountName(name: string): boolean {
  return ACCOUNT.test(name);
}

/** Words in names of values that are often credentials, but not always. */
const PRIVATE = new Set(
  "auth authentication authorization bearer cookie credential credentials csrf cvc cvv hmac key keys nonce otp pass passcode passphrase pin pw pwd secrets session sid sig signature tokens totp xsrf".split(
    " ",
  ),
);

/** Whether a value of this name is not kept where somebody recorded or wrote down real requests. */
export function isPrivateName(name: string): boolean {
  if (isSecretName(name)) return true;
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  return words.split(/[^a-z0-9]+/).some((word) => PRIVATE.has(word)) || /session|token|pwd|auth(?!or)/.test(words);
}

/** Whether a part of a path is probably a credential, as in addresses of webhooks and bots. */
export function isSecretSegment(text: string): boolean {
  if (looksSecret(text) || /^\w{0,20}:[\w-]{20,}$/.test(text)) return true;
  if (!/^[\w-]{20,}$/.test(text)) return false;
  const changes = text.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g) ?? [];
  return /\d/.test(text) && changes.length >= text.length * 0.45;
}

const NAMED =
  /([\w-]{0,40}(?:password|passwd|passphrase|passcode|pwd|secret|token|credential|api[-_]?key)[\w-]{0,40})(["']?[ \t]{0,4}[=:>][ \t]{0,4}["']?)[^\s"'<>&,;{}]{1,4000}/gi;

/** Elements whose names are too short to look for them in other texts. */
const ELEMENT = /(<(?:[\w.-]{1,40}:)?(?:pin|pass|auth|key|sid|sig|otp|session|signature)>)[^<>]{1,4000}/gi;

/** A text for people or of an unknown format without what is probably a credential. */
export function maskedText(text: string): string {
  return text
    .replaceAll(/\b(bearer|basic|token)[ \t]+(?=[^\s"'<>]*[\d=_])[^\s"'<>]{6,4000}/gi, "$1 <string>")
    .replaceAll(ELEMENT, (_, element: string) => `${element}<string>`)
    .replaceAll(NAMED, (_, name: string, sign: string) => `${name}${sign}<string>`)
    .replaceAll(/[^\s"'<>&,;()=]{12,4000}/g, (word) => (looksSecret(word) ? "<string>" : word));
}
