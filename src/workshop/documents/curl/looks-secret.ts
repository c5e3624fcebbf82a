/** The beginnings of well-known tokens. */
const KNOWN =
  /^(?:eyJ[\w-]{8,}\.|sk[-_]|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|ya29\.|SG\.|shp(?:at|ss)_|npm_|dop_v1_|Bearer\s|Basic\s)/;

/** Whether a value is probably a credential: the token of a known service, or long and random. */
export function looksSecret(value: string): boolean {
  const text = value.trim();
  if (text.includes("{{") || /^<.*>$/.test(text)) return false;
  if (KNOWN.test(text) && text.length >= 12) return true;
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(text)) return false;
  if (/^[0-9a-f]{32,}$/i.test(text)) return true;
  const isRandom = /^[\w+/=.-]{32,}$/.test(text) && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return isRandom && !text.includes("://");
}
