import { percentDecoded } from "../text/percent-decoded.ts";
import {
  isKnownToken,
  looksSecret,
  maskFound,
  replaceSpans,
  secretsBy,
  type FindSecrets,
  type Span,
} from "./find-secrets.ts";
import { isCredentialName, mayBeSecretName } from "./secret-names.ts";

const ABOUT_SECRET =
  /(?:type|url|uri|endpoint|name|count|status|state|policy|hint|format|id|method|length)$|expire|expiry|idempotency|^(?:page|next|sync|continuation)/i;

/** What a document has in place of a credential that was left out. */
export const LEFT_OUT = "<credential>";

/** What documents write where everybody has to put his own value. */
const STANDS_FOR =
  /^(?:$|[{<[%$&].*|.*(?:\{\{|\$\{|<[\w -]+>|\*\*\*|\.\.\.|…).*|x+|(?:your|my|the|an?)\b.*|(?:YOUR|MY|INSERT|REPLACE)[-_ ].*|(?:string|text|null|true|false|none|required|optional|any|value|token|key|secret|password|bearer|basic|header|query|cookie|example|placeholder|undefined|access[-_ ]?token|api[-_ ]?key|string\|null)\d?)$/is;

/** Whether a value is a placeholder. */
function standsForAnother(value: string): boolean {
  const text = value.trim();
  return STANDS_FOR.test(text) || /^[A-Z][A-Z\d]*(?:[_-][A-Z\d]+)+$/.test(text);
}

/**
 * Whether a value of this name is a credential: `hunter2` of `password`. Where descriptions show made-up values, only names that
 * are those of credentials count.
 */
export function isCredential(name: string, value: string, isSecret = mayBeSecretName): boolean {
  if (value === LEFT_OUT || standsForAnother(value)) return false;
  return looksSecret(value) || (isSecret(name) && !saysAboutSecret(name) && !/^https?:\/\/[^?#@]*$/i.test(value));
}

const isShownCredential = (name: string, value: string) => isCredential(name, value, isCredentialName);
const isOwnValue = (_name: string, value: string) => !standsForAnother(value) && isRandom(value);
const isShownWord = (name: string, value: string) => isShownCredential(name, value) && !/\s/.test(value);
const isUser = (_name: string, value: string) => !isOpenUser(value);

const COOKIES = /(?<lead>\b(?:set-)?cookie["'`]?[ \t]*[:=][ \t]*["'`]?)[^"'`<>\n]{4,4000}/gi;
const TAG = /(?:<|&lt;)(?:[^<>&]|&(?![lg]t;)){1,4000}(?:>|&gt;)/g;
const NAME_OF_TAG = /\s(?:name|key|id)\s{0,9}=\s{0,9}["']([\w.:-]{1,60})["']/i;
const VALUE_OF_TAG = /(?<lead>\s(?:default|fixed|value)\s{0,9}=\s{0,9}(["']))(?:(?!\2)[^<>]){1,2000}(?=\2)/gi;
/** A picture is long and random, and no credential. */
const DATA_ADDRESS = /(\bdata:[\w.+-]{1,60}\/[\w.+-]{1,60};base64,[^\s"<>()]+)/i;

/**
 * Whether a word of a document is a token. A path, a name with dots or the digest of a file is long as well, but not random.
 */
function isTokenWord(word: string): boolean {
  const text = word.replace(/^[\\.:*_-]+|[\\.:*_-]+$/g, "");
  if (!looksSecret(text) || standsForAnother(text) || /^[0-9a-f]{32,}$/i.test(text)) return false;
  return isKnownToken(text) || text.startsWith("eyJ") || !/[/.:]/.test(text);
}

const inWords = secretsBy(/[^\s"'`<>&,;()=|[\]{}]{12,4000}/g, (_name, word) => isTokenWord(word));
const inCookie = secretsBy(
  /^(?<lead>\s*[^=\s]{1,200}=).+$/gs,
  (_name, value) => !standsForAnother(value) && value !== LEFT_OUT,
);

const AFTER_NAMES: readonly FindSecrets[] = [
  inside(COOKIES, inCookies),
  secretsBy(
    /(?<lead>(?:\b(?:proxy-)?authorization|\bx-(?:api|auth|access)-?(?:key|token)|\bapi-?key|\bx-amz-security-token|\bocp-apim-subscription-key|\bprivate-token)["'`]?[ \t]*(?:[:=]|=>|,)[ \t]*["'`]?(?:(?:bearer|basic|token|digest|apikey|key)[ \t]+)?)[^\s"'`<>&,;|{}()]{6,4000}/gi,
    isOwnValue,
  ),
  secretsBy(/(?<lead>\b(?:bearer|basic)[ \t]+)[^\s"'`<>&,;|{}()]{8,4000}/gi, isOwnValue),
  secretsBy(/(?<lead>(?:^|[\s"'`(])(?:-u|--user|--proxy-user|--oauth2-bearer)[= \t]+["']?)[^\s"'`<>]{3,1000}/g, isUser),
];
const USER = secretsBy(/(?<lead>\bhttps?:\/\/)[^\s/?#"'`<>@:]{0,300}:[^\s/?#"'`<>@]{1,300}(?=@)/gi, isUser);
const BY_NAMES: readonly FindSecrets[] = [
  secretsBy(
    /(?<lead>[?&;](?<name>[\w.[\]-]{1,60})=)[^\s"'`<>&;)]{4,2000}/g,
    (name, value) => isShownCredential(name, percentDecoded(value)) && isRandom(value),
  ),
  secretsBy(
    /(?<lead>(["'])(?<name>[\w.-]{1,60})\2[ \t]*(?::|=>|=)[ \t]*(["']))(?:(?!\4)[^\\\n]|\\.){1,4000}(?=\4)/g,
    isShownWord,
  ),
  secretsBy(
    /(?<lead><(?:[\w.-]{1,40}:)?(?<name>[\w.-]{1,60})(?:[ \t][^<>]{0,200})?>)[^<>\s]{1,2000}(?=<\/)/g,
    isShownCredential,
  ),
  secretsBy(/(?<lead>&lt;(?:[\w.-]{1,40}:)?(?<name>[\w.-]{1,60})&gt;)[^<>&\s]{1,2000}(?=&lt;\/)/g, isShownCredential),
  // `password = "…"` of a program, and `apiKey: String = "…"` with a type. What is like a token, such as
  // "csi.storage.k8s.io/serviceAccount.tokens", has any name.
  secretsBy(
    /(?<lead>\b(?<name>[\w-]{1,60})(?:[ \t]{0,9}:[ \t]{0,9}[\w.[\]!?]{1,60})?[ \t]{0,9}(?::|=>|=)[ \t]{0,9}(["']))(?:(?!\3)[^\\\n]|\\.){1,4000}(?=\3)/g,
    (name, value) => isCredentialName(name) && isShownWord(name, value),
  ),
  inside(TAG, inTag),
  inTokens,
];

/**
 * A text without what surely is a credential: values after well-known names of headers, of `curl -u`, in addresses, of
 * members, variables and elements with the name of a secret, and tokens by their looks. Lines stay where they are.
 */
export function cleanProse(text: string, mark = LEFT_OUT): string {
  const withoutUsers = maskFound(maskFound(text, AFTER_NAMES, mark), [USER], mark.replaceAll(/[<>&;]|lt|gt/g, ""));
  return maskFound(withoutUsers, BY_NAMES, mark);
}

function isRandom(value: string): boolean {
  return /\d/.test(value) || value.length >= 20;
}

/** Secrets in what a pattern finds, without its `lead`. */
function inside(pattern: RegExp, find: FindSecrets): FindSecrets {
  return (text) => {
    const spans: Span[] = [];
    // One by one: a large document has very many tags.
    for (const found of text.matchAll(pattern)) {
      const { lead = "" } = found.groups ?? {};
      const within = find(found[0].slice(lead.length));
      if (within.length > 0) spans.push(...moved(within, found.index + lead.length));
    }
    return spans;
  };
}

function moved(spans: readonly Span[], by: number): Span[] {
  return spans.map(({ start, end }) => ({ start: start + by, end: end + by }));
}

/** An element that says the name of a value and the value: `<element name="password" default="…"/>`. */
function inTag(tag: string): Span[] {
  const [, name = ""] = NAME_OF_TAG.exec(tag) ?? [];
  return isCredentialName(name) ? secretsBy(VALUE_OF_TAG, (_name, value) => isShownCredential(name, value))(tag) : [];
}

function inTokens(text: string): Span[] {
  let end = 0;
  return text.split(DATA_ADDRESS).flatMap((part, index) => {
    end += part.length;
    return index % 2 === 1 ? [] : moved(inWords(part), end - part.length);
  });
}

function isOpenUser(value: string): boolean {
  const [user = "", password = ""] = value.split(/:(.*)/s);
  return standsForAnother(value) || (standsForAnother(password) && (password !== "" || standsForAnother(user)));
}

const ATTRIBUTE = /^\s*(?:path|domain|expires|max-age|samesite|secure|httponly|priority|partitioned)\b/i;

function inCookies(text: string): Span[] {
  let end = -1;
  return text.split(";").flatMap((pair) => {
    end += pair.length + 1;
    return ATTRIBUTE.test(pair) ? [] : moved(inCookie(pair), end - pair.length);
  });
}

/** The header of cookies without their values. */
export function cleanCookies(text: string): string {
  return replaceSpans(text, inCookies(text), LEFT_OUT);
}

/** Whether a value of this name is about a secret in data: `token_type`, `passwordUrl` and `keyId`. */
function saysAboutSecret(name: string): boolean {
  return ABOUT_SECRET.test(name);
}
