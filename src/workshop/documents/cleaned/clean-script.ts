import { mayBeSecretName } from "../../../text/secret-names.ts";
import { isSecretSegment, looksSecret } from "../text/secret-like.ts";
import { cleanProse, LEFT_OUT } from "./credential-text.ts";

/**
 * No text begins at an escaped quote: it cannot end at one either, so each of many would be read up to the end of the line.
 */
const TOKEN = /(?<!(?<!\\)(?:\\\\)*\\)(["'`])((?:\\.|(?!\1)[^\\\n])*)\1|[A-Za-z_$][\w$-]*|\d{4,}|[;{}\n]/g;
const USES_SECRET = /^(?:btoa|atob|CryptoJS|Hmac\w*|encrypt|sign\w*|authorization)$/i;
const WORDS =
  /^(?:https?:\/\/[^?#@]*|[\w.+-]+\/[\w.+-]+|(?:bearer|basic|token|hex|base64|utf-?8|string|number|object|undefined)\s*|\s*|[,:;.=&?/ -]+)$/i;

/**
 * A script without the texts that are credentials: those that look like one, and those after a name of one in the same
 * statement, as in `pm.environment.set("token", "…")`. Lines stay where they are.
 */
export function cleanScript(text: string): string {
  let isSecret = false;
  const clean = text.replaceAll(TOKEN, (token, quote: string | undefined, inside: string | undefined) => {
    if (/^[;{}\n]$/.test(token)) {
      isSecret = false;
      return token;
    }
    if (quote === undefined || inside === undefined) {
      if (/^\d/.test(token)) return isSecret ? "0" : token;
      isSecret ||= mayBeSecretName(token) || USES_SECRET.test(token);
      return token;
    }
    const [, scheme = "", value = ""] = /^((?:bearer|basic|token)\s+)?(.*)$/is.exec(inside) ?? [];
    if (value.includes(LEFT_OUT) || value.includes("{{") || (quote === "`" && value.includes("${"))) return token;
    const isName = /^[\w .-]{1,60}$/.test(inside) && mayBeSecretName(inside) && !looksSecret(inside);
    if (isName) {
      isSecret = true;
      return token;
    }
    const isOwn =
      looksSecret(value) || isSecretSegment(value) || (isSecret && value.length >= 3 && !WORDS.test(inside));
    return isOwn ? `${quote}${scheme}${LEFT_OUT}${quote}` : token;
  });
  return cleanProse(clean);
}
