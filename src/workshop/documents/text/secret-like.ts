import { replaceNamed } from "../../../text/mask-secrets.ts";

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

const ACCOUNT =
  /^(?:user(?:_?(?:name|id|code))?|login(?:_?name)?|account(?:_?(?:name|id))?|client(?:_?id)?|partner(?:_?id)?|customer_?id|merchant(?:_?id)?|system|benutzer(?:name)?|mandant|kunde(?:nnummer)?|app_?id|tenant(?:_?id)?)$/i;

/** Whether a value of this name says whose a credential is; beside one, it belongs to it. */
export function isAccountName(name: string): boolean {
  return ACCOUNT.test(name);
}

/** Whether a part of a path is probably a credential, as in addresses of webhooks and bots. */
export function isSecretSegment(text: string): boolean {
  if (looksSecret(text) || /^\w{0,20}:[\w-]{20,}$/.test(text)) return true;
  if (!/^[\w-]{20,}$/.test(text)) return false;
  const changes = text.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g) ?? [];
  return /\d/.test(text) && changes.length >= text.length * 0.45;
}

const NAMED = {
  name: /(?<![\w-])([\w-]{1,80})["']?[ \t]{0,4}[=:>][ \t]{0,4}["']?/g,
  value: /[^\s"'<>&,;{}]{1,4000}/y,
  replacement: "<string>",
};

/** Elements whose names are too short to look for them in other texts. */
const ELEMENT = /(<(?:[\w.-]{1,40}:)?(?:pin|pass|auth|key|sid|sig|otp|session|signature)>)[^<>]{1,4000}/gi;

/** A text for people or of an unknown format without what is probably a credential. */
export function maskedText(text: string): string {
  const shown = text
    .replaceAll(/\b(bearer|basic|token)[ \t]+(?=[^\s"'<>]*[\d=_])[^\s"'<>]{6,4000}/gi, "$1 <string>")
    .replaceAll(ELEMENT, (_, element: string) => `${element}<string>`);
  return replaceNamed(shown, NAMED).replaceAll(/[^\s"'<>&,;()=]{12,4000}/g, (word) =>
    looksSecret(word) ? "<string>" : word,
  );
}
