/**
 * The part of an address that stands for something else, as documents write it: `{subdomain}`, `<host>`, `[x]`, `:x`, `$x`,
 * `%x%`, `YOUR-DOMAIN`, `ACCOUNT_NAME`, `xxx` or `…`. Undefined if there is none. An address with one is never a host to
 * send a credential to: somebody may own the name.
 */
export function placeholderIn(address: string): string | undefined {
  return placeholder(address, (label, isHost) => isSure(label, isHost) || isLikely(label, isHost));
}

/** Only what cannot be a real name, such as `{subdomain}` and `YOUR-DOMAIN`, but not `my-shop`. */
export function surePlaceholderIn(address: string): string | undefined {
  return placeholder(address, isSure);
}

type Judge = (label: string, isHost: boolean) => boolean;

function placeholder(address: string, judge: Judge): string | undefined {
  const text = ESCAPES.reduce((plain, [escape, sign]) => plain.replaceAll(escape, sign), address.trim());
  const [, authority = "", path = text] =
    /^(?:[a-z][\w+.-]*:)?\/\/([^/?#<{[]*(?:[<{[][^>}\]]*[>}\]][^/?#<{[]*)*)(.*)$/is.exec(text) ?? [];
  return (
    MARKED.exec(text.replace(/[?#].*$/s, ""))?.[0] ??
    inHost(authority.replace(/^.*@/s, ""), judge) ??
    stepsOf(path).find((step) => judge(step, false))
  );
}

const ESCAPES: readonly [RegExp, string][] = [
  [/&lt;|%3c/gi, "<"],
  [/&gt;|%3e/gi, ">"],
  [/%7b/gi, "{"],
  [/%7d/gi, "}"],
  [/%5b/gi, "["],
  [/%5d/gi, "]"],
];

/** Signs that no address has; brackets around a number are an address of IPv6, and `%C3%A4` is an encoded letter. */
const MARKED =
  /#?\$?\{+[^{}]*\}*|<[^<>]*>?|\[(?![\da-f:.]*:[\da-f:.]*\])[^\]]*\]?|\$\w+|%[a-z_]\w*%(?![\da-f]{2})|…|\.{3}/i;

/** What documents call the parts of addresses that differ between customers. */
const NOUNS =
  "account|address|app|client|company|customer|domain|env|environment|host|hostname|id|instance|ip|key|name|org|organi[sz]ation|port|project|region|server|shop|site|store|subdomain|team|tenant|token|url|user|username|version|workspace|zone";
const CAPITALS = new RegExp(`^(?:${NOUNS.replaceAll("[sz]", "(?:s|z)").toUpperCase()})$`);
const JOINED = new RegExp(String.raw`^(?:\w*_)?(?:${NOUNS})(?:_\w*)?$`, "i");
const NAMED = new RegExp(String.raw`^(?:${NOUNS})_(?:name|id|code|key|here)$`);
const YOURS = new RegExp(String.raw`^your(?:[-_].*|(?:${NOUNS})s?)?$`, "i");
const MINE = new RegExp(String.raw`^my[-_]?(?:${NOUNS})$`, "i");
const TO_REPLACE = /^(?:replace|change|insert|enter|fill)[-_]?(?:me|this|with|in|your)(?:[-_].*)?$/i;

function inHost(authority: string, judge: Judge): string | undefined {
  if (/^:[a-z_]/i.test(authority)) return /^:\w*/.exec(authority)?.[0];
  const [, host = authority, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  if (port !== undefined && !/^\d*$/.test(port)) return port;
  if (/^\.|\.\./.test(host)) return host;
  const labels = host.split(".");
  const [last] = labels.slice(-1);
  // xxx is also the end of real names.
  return labels.find((label) => judge(label, true) && (label !== last || labels.length === 1 || label.length > 3));
}

function stepsOf(path: string): string[] {
  return path.replace(/[?#].*$/s, "").split("/");
}

function isSure(label: string, isHost: boolean): boolean {
  if (/^(?:YOUR|MY)[-_]?[A-Z]/.test(label) || /^(?:x{3,}|__\w*__)$/i.test(label) || TO_REPLACE.test(label)) return true;
  // Capitals alone can be a step of a path, as in /REST/.
  const isName = /^[A-Z][A-Z\d]*(?:[-_][A-Z\d]+)+$/.test(label) && JOINED.test(label.replaceAll("-", "_"));
  if (isName) return true;
  if (!isHost) return /^:[a-z_]\w*$/i.test(label) || /^your[-_]\w/i.test(label);
  return YOURS.test(label) || NAMED.test(label) || CAPITALS.test(label) || /^sub-?domain$/i.test(label);
}

/** Names that are usually made up in documents, but that somebody may have. */
function isLikely(label: string, isHost: boolean): boolean {
  if (!isHost) return false;
  const isJoined = label.includes("_") && (JOINED.test(label) || /^[A-Z][A-Z\d_]*$/.test(label));
  return isJoined || MINE.test(label) || /^(?:hostname|placeholder|xx)$|[-_]here$/i.test(label);
}
