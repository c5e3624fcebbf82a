import type { ServerFacts } from "../documents/api-facts.ts";
import { placeholderIn } from "../file/model/address-placeholder.ts";
import type { QuestionList } from "./questions.ts";

const UNKNOWN = "https://api.example.invalid/";
/** Of operations whose own server has a part to fill in: not the base of the others, which may be another host. */
const UNKNOWN_OWN = "https://other.example.invalid/";
const NO_SERVER = "The document names no server. What is the address of the API? Answer with it: https://…";

interface BaseOptions {
  /** Given by the person; it wins. */
  base?: string | undefined;
  /** Where the document was loaded from, if that was an address. */
  documentUrl?: string | undefined;
}

/** The base address: the first https server, made absolute with the address of the document. */
export function baseAddress(servers: readonly ServerFacts[], options: BaseOptions, questions: QuestionList): string {
  if (options.base !== undefined) return withSlash(options.base);
  const known = servers.map((server) => ({ server, url: absolute(server.url, options.documentUrl) }));
  const usable = known.filter(({ url }) => url !== undefined);
  const about = "upstream.base";
  const named = known.filter(({ server, url }) => url !== undefined || openPart(server) !== undefined);
  const first = named.find(({ server }) => /^https:/i.test(server.url)) ?? named[0];
  const open = first && openPart(first.server);
  if (first && open !== undefined) return askForAddress(first.server, open, { usable, questions });
  const chosen = usable.find(({ url }) => url?.startsWith("https:")) ?? usable[0];
  if (!chosen?.url) {
    questions.add(NO_SERVER, about, servers[0]?.evidence);
    const [first] = servers;
    return first?.url.startsWith("/") ? (absolute(first.url, UNKNOWN) ?? UNKNOWN) : UNKNOWN;
  }
  const others = [...new Set(usable.map(({ url = "" }) => url))].filter((url) => url !== chosen.url);
  if (others.length > 0) {
    questions.add(
      `The document also names ${others.slice(0, 5).join(", ")}. Is this the server that you use?`,
      about,
      chosen.server.evidence,
      [chosen.url, ...others.slice(0, 5)].map((url) => ({ answer: url, set: { "": url } })),
    );
  }
  if (chosen.server.isGuess) {
    const ask = "The document does not say that this is its base address. Is it? If not, answer with the address.";
    // The answer to another question may have changed the address: a yes leaves what is there.
    questions.add(ask, about, chosen.server.evidence, [{ answer: "yes", set: {} }]);
  }
  const variables = chosen.server.variables.map(({ name, value }) => `${name} = ${value}`);
  if (variables.length > 0) {
    questions.add(
      `The address has variables, which got their defaults: ${variables.join(", ")}. Are they right?`,
      about,
      chosen.server.evidence,
    );
  }
  return chosen.url;
}

/** What a person has to fill in; undefined if the address is complete. */
function openPart({ url }: ServerFacts): string | undefined {
  return placeholderIn(url);
}

/** Filled with a name of the document, it would be a host that may belong to anybody, and the token would go there. */
function askForAddress(
  server: ServerFacts,
  open: string,
  { usable, questions }: { usable: readonly { url: string | undefined }[]; questions: QuestionList },
): string {
  const written = server.url.length > 200 ? `${server.url.slice(0, 200)}…` : server.url;
  const others = usable.flatMap(({ url = "" }) => url).slice(0, 5);
  const also = others.length === 0 ? "" : ` The document also names ${others.join(", ")}.`;
  const ask = `The document does not say the whole address: ${open} in ${written} has to be filled in. What is the address? Answer with it: https://….${also}`;
  const [only, ...more] = server.open ?? [];
  const filled =
    only && more.length === 0
      ? only.choices.map((choice) => absolute(server.url.replaceAll(`{${only.name}}`, choice), undefined))
      : [];
  const known = filled.filter((url) => url !== undefined).slice(0, MOST_CHOICES);
  const choices = [...new Set(known)].map((url) => ({ answer: url, set: { "": url } }));
  questions.add(ask, "upstream.base", server.evidence, choices);
  return UNKNOWN;
}

const MOST_CHOICES = 10;

/** The address of a server as a base: absolute, with a slash at its end, without query; undefined if it is not complete. */
function absolute(url: string, documentUrl: string | undefined): string | undefined {
  const plain = url.trim();
  if (placeholderIn(plain) !== undefined) return undefined;
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(plain) ? plain : plain.startsWith("//") ? `https:${plain}` : undefined;
  if (whole !== undefined) return URL.canParse(whole) ? withSlash(whole) : undefined;
  if (documentUrl === undefined || !URL.canParse(plain, documentUrl)) return undefined;
  return withSlash(new URL(plain, documentUrl).href);
}

function withSlash(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname, protocol } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return UNKNOWN;
  return `${origin}${pathname.replace(/\/*$/, "").replaceAll(/\/\/+/g, "/")}/`;
}

interface OwnBaseContext {
  base: string;
  documentUrl?: string | undefined;
  /** The servers that the base was chosen from. */
  common: readonly ServerFacts[];
  /** The place of the operation's tool, for a question. */
  about: string;
  questions: QuestionList;
}

/** The base of an operation that has servers of its own; undefined if it is the same. */
export function ownBase(
  servers: readonly ServerFacts[] | undefined,
  { base, documentUrl, common, about, questions }: OwnBaseContext,
): string | undefined {
  const [first] = servers ?? [];
  const open = first && openPart(first);
  if (first && open !== undefined) {
    if (common.some(({ url }) => url === first.url)) return undefined;
    const ask = `This request has an address of its own, which the document does not say as a whole: ${open} in ${first.url.slice(0, 200)} has to be filled in. Write it here and to upstream.allow.`;
    questions.add(ask, `${about}.request.base`, first.evidence);
    return UNKNOWN_OWN;
  }
  const urls = (servers ?? []).map(({ url }) => absolute(url, documentUrl ?? base)).filter((url) => url !== undefined);
  const chosen = urls.find((url) => url.startsWith("https:")) ?? urls[0];
  return chosen === undefined || chosen === base || urls.includes(base) ? undefined : chosen;
}

/**
 * The base and the path of an API that has one address for all requests: `https://api.example/` and `graphql`. A slash
 * at the end of the address counts only if the person wrote it.
 */
export function endpointOf(address: string, given: string | undefined): { base: string; path: string } {
  if (address === UNKNOWN || !URL.canParse(address)) return { base: address, path: "graphql" };
  const { origin, pathname } = new URL(address);
  const [, folder = "/", last = ""] = /^(.*\/)([^/]+)\/$/.exec(pathname) ?? [];
  if (last === "") return { base: address, path: "" };
  return { base: origin + folder, path: given?.endsWith("/") ? `${last}/` : last };
}
