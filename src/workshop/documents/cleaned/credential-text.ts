import { percentDecoded } from "../../../text/percent-decoded.ts";
import { isCredentialName, mayBeSecretName } from "../../../text/secret-names.ts";
import { isSecretSegment, looksSecret } from "../text/secret-like.ts";

/** What a document has in place of a credential that was left out. */
export const LEFT_OUT = "<credential>";

/** `token_type`, `passwordUrl`: about a credential, not one. */
const ABOUT =
  /(?:type|url|uri|endpoint|name|count|status|state|policy|hint|format|id|method|length)$|expire|expiry|idempotency|^(?:page|next|sync|continuation)/i;
/** What documents write where everybody has to put his own value. */
const STANDS_FOR =
  /^(?:$|[{<[%$&].*|.*(?:\{\{|\$\{|<[\w -]+>|\*\*\*|\.\.\.|…).*|x+|(?:your|my|the|an?)\b.*|(?:YOUR|MY|INSERT|REPLACE)[-_ ].*|(?:string|text|null|true|false|none|required|optional|any|value|token|key|secret|password|bearer|basic|header|query|cookie|example|placeholder|undefined|access[-_ ]?token|api[-_ ]?key|string\|null)\d?)$/is;

function standsForAnother(value: string): boolean {
  const text = value.trim();
  return STANDS_FOR.test(text) || /^[A-Z][A-Z\d]*(?:[_-][A-Z\d]+)+$/.test(text);
}

/** Whether a value of this name is a credential: `hunter2` of `password`. */
export function isCredential(name: string, value: string): boolean {
  if (value === LEFT_OUT || standsForAnother(value)) return false;
  return looksSecret(value) || (mayBeSecretName(name) && !ABOUT.test(name) && !/^https?:\/\/[^?#@]*$/i.test(value));
}

/** The same where descriptions show made-up values: only names that are those of credentials count. */
export function isShownCredential(name: string, value: string): boolean {
  if (value === LEFT_OUT || standsForAnother(value)) return false;
  return looksSecret(value) || (isCredentialName(name) && !ABOUT.test(name));
}

const HEADER =
  /((?:\b(?:proxy-)?authorization|\bx-(?:api|auth|access)-?(?:key|token)|\bapi-?key|\bx-amz-security-token|\bocp-apim-subscription-key|\bprivate-token)["'`]?[ \t]*(?:[:=]|=>|,)[ \t]*["'`]?(?:(?:bearer|basic|token|digest|apikey|key)[ \t]+)?)([^\s"'`<>&,;|{}()]{6,4000})/gi;
const SCHEME = /(\b(?:bearer|basic)[ \t]+)([^\s"'`<>&,;|{}()]{8,4000})/gi;
const USER = /((?:^|[\s"'`(])(?:-u|--user|--proxy-user|--oauth2-bearer)[= \t]+["']?)([^\s"'`<>]{3,1000})/g;
const IN_ADDRESS = /(\bhttps?:\/\/)([^\s/?#"'`<>@:]{0,300}:[^\s/?#"'`<>@]{1,300})(?=@)/gi;
const IN_QUERY = /([?&;]([\w.[\]-]{1,60})=)([^\s"'`<>&;)]{4,2000})/g;
const MEMBER = /((["'])([\w.-]{1,60})\2[ \t]*(?::|=>|=)[ \t]*(["']))((?:(?!\4)[^\\\n]|\\.){1,4000})(?=\4)/g;
/** `password = "…"` of a program, and `apiKey: String = "…"` with a type. */
const VARIABLE =
  /(\b([\w-]{1,60})(?:[ \t]{0,9}:[ \t]{0,9}[\w.[\]!?]{1,60})?[ \t]{0,9}(?::|=>|=)[ \t]{0,9}(["']))((?:(?!\3)[^\\\n]|\\.){1,4000})(?=\3)/g;
const TAG = /(?:<|&lt;)(?:[^<>&]|&(?![lg]t;)){1,4000}(?:>|&gt;)/g;
const NAME_OF_TAG = /\s(?:name|key|id)\s{0,9}=\s{0,9}["']([\w.:-]{1,60})["']/i;
const VALUE_OF_TAG = /(\s(?:default|fixed|value)\s{0,9}=\s{0,9}(["']))((?:(?!\2)[^<>]){1,2000})(?=\2)/gi;
const ELEMENT = /(<(?:[\w.-]{1,40}:)?([\w.-]{1,60})(?:[ \t][^<>]{0,200})?>)([^<>\s]{1,2000})(?=<\/)/g;
const ESCAPED_ELEMENT = /(&lt;(?:[\w.-]{1,40}:)?([\w.-]{1,60})&gt;)([^<>&\s]{1,2000})(?=&lt;\/)/g;
const COOKIE = /(\b(?:set-)?cookie["'`]?[ \t]*[:=][ \t]*["'`]?)([^"'`<>\n]{4,4000})/gi;
/** A picture is long and random, and no credential. */
const DATA_ADDRESS = /(\bdata:[\w.+-]{1,60}\/[\w.+-]{1,60};base64,[^\s"<>()]+)/i;
const WORD = /[^\s"'`<>&,;()=|[\]{}]{12,4000}/g;

/**
 * A text without what surely is a credential: values after well-known names of headers, of `curl -u`, in addresses, of
 * members, variables and elements with the name of a secret, and tokens by their looks. Lines stay where they are.
 */
export function cleanProse(text: string, mark = LEFT_OUT): string {
  const random = (value: string) => /\d/.test(value) || value.length >= 20;
  const own = (lead: string, value: string) => lead + (standsForAnother(value) || !random(value) ? value : mark);
  const named = text
    .replaceAll(
      COOKIE,
      (whole, lead: string, pairs: string) => lead + (cleanCookies(pairs, mark) ?? whole.slice(lead.length)),
    )
    .replaceAll(HEADER, (_, lead: string, value: string) => own(lead, value))
    .replaceAll(SCHEME, (_, lead: string, value: string) => own(lead, value))
    .replaceAll(USER, (_, lead: string, value: string) => lead + (isOpenUser(value) ? value : mark))
    .replaceAll(
      IN_ADDRESS,
      (_, lead: string, value: string) => lead + (isOpenUser(value) ? value : mark.replaceAll(/[<>&;]|lt|gt/g, "")),
    )
    .replaceAll(IN_QUERY, (whole, lead: string, name: string, value: string) =>
      isShownCredential(name, percentDecoded(value)) && random(value) ? lead + mark : whole,
    )
    .replaceAll(MEMBER, (whole, lead: string, _quote: string, name: string, _other: string, value: string) =>
      isShownCredential(name, value) && !/\s/.test(value) ? lead + mark : whole,
    )
    .replaceAll(ELEMENT, (whole, lead: string, name: string, value: string) =>
      isShownCredential(name, value) ? lead + mark : whole,
    )
    .replaceAll(ESCAPED_ELEMENT, (whole, lead: string, name: string, value: string) =>
      isShownCredential(name, value) ? lead + mark : whole,
    );
  // Tokens by their looks come last: what is like one, such as "csi.storage.k8s.io/serviceAccount.tokens", has any name.
  const withoutVariables = changed(named, VARIABLE, ([whole, lead = "", name = "", , value = ""]) =>
    isCredentialName(name) && isShownCredential(name, value) && !/\s/.test(value) ? lead + mark : whole,
  );
  const clean = changed(withoutVariables, TAG, ([tag]) => cleanTag(tag, mark));
  return clean
    .split(DATA_ADDRESS)
    .map((part, index) => (index % 2 === 1 ? part : withoutTokens(part, mark)))
    .join("");
}

/** Like `replaceAll`, where few of very many matches change: a long text in which none does is not written again. */
function changed(text: string, pattern: RegExp, change: (match: RegExpExecArray) => string): string {
  let written = "";
  let done = 0;
  for (const match of text.matchAll(pattern)) {
    const replacement = change(match);
    if (replacement === match[0]) continue;
    written += text.slice(done, match.index) + replacement;
    done = match.index + match[0].length;
  }
  return done === 0 ? text : written + text.slice(done);
}

/** An element that says the name of a value and the value: `<element name="password" default="…"/>`. */
function cleanTag(tag: string, mark: string): string {
  const [, name = ""] = NAME_OF_TAG.exec(tag) ?? [];
  if (!isCredentialName(name)) return tag;
  return tag.replaceAll(VALUE_OF_TAG, (whole, lead: string, _quote: string, value: string) =>
    isShownCredential(name, value) ? lead + mark : whole,
  );
}

function withoutTokens(text: string, mark: string): string {
  return hasToken(text) ? text.replaceAll(WORD, (word) => (isToken(word) ? mark : word)) : text;
}

/** Long texts without a token are not written again. */
function hasToken(text: string): boolean {
  for (const [word] of text.matchAll(WORD)) if (isToken(word)) return true;
  return false;
}

/** A path, a name with dots or the digest of a file is long as well, but not random. */
function isToken(word: string): boolean {
  const text = word.replace(/^[\\.:*_-]+|[\\.:*_-]+$/g, "");
  if (!looksSecret(text) || standsForAnother(text)) return false;
  if (/^[0-9a-f]{32,}$/i.test(text)) return false;
  return (
    /^(?:bot\d|eyJ|sk[-_]|[pr]k_|gh[opsur]_|github_|glpat|xox|A[KS]IA|AIza|ya29|SG\.|shp|npm_|dop_)/.test(text) ||
    !/[/.:]/.test(text)
  );
}

function isOpenUser(value: string): boolean {
  const [user = "", password = ""] = value.split(/:(.*)/s);
  return standsForAnother(value) || (standsForAnother(password) && (password !== "" || standsForAnother(user)));
}

/** Undefined if there are none. */
export function cleanCookies(text: string, mark = LEFT_OUT): string | undefined {
  if (!text.includes("=")) return undefined;
  const [first = "", ...more] = text.split(";");
  const attribute = /^\s*(?:path|domain|expires|max-age|samesite|secure|httponly|priority|partitioned)\b/i;
  return [first, ...more]
    .map((pair) =>
      attribute.test(pair)
        ? pair
        : pair.replace(
            /^(\s*[^=\s]{1,200}=)(.+)$/s,
            (_, name: string, value: string) => name + (standsForAnother(value) || value === LEFT_OUT ? value : mark),
          ),
    )
    .join(";");
}

/** An address without a user, without secret steps, and without the values of secret parameters. */
export function cleanAddress(address: string): string {
  const bare = address.replace(/^((?:[a-z][\w+.-]*:)?\/\/)[^/?#{}]*@/i, "$1");
  const [, start = "", path = "", query = "", rest = ""] =
    /^((?:[a-z][\w+.-]*:\/\/)?[^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(bare) ?? [];
  const steps = path.split("/").map(cleanStep).join("/");
  const pairs = query.replaceAll(/([?&])([^=&?]*)=([^&]*)/g, (whole, sign: string, name: string, value: string) =>
    isCredential(percentDecoded(name), percentDecoded(value)) ? `${sign}${name}=${LEFT_OUT}` : whole,
  );
  return start + steps + pairs + (looksSecret(rest.slice(1)) ? "" : rest);
}

/** A step of a path that is a credential becomes a parameter. */
export function cleanStep(step: string): string {
  const text = percentDecoded(step);
  return !/^[:{<]/.test(text) && !text.includes("{{") && isSecretSegment(text) ? ":credential" : step;
}
