import { NexusError } from "../../../errors/nexus-error.ts";
import { isRecord } from "../../../json/is-record.ts";
import { collectionOf, jsonText, requestItem } from "./curl-collection.ts";
import type { CurlRequest } from "./curl-request.ts";
import type { RecordedRequests } from "./curls-collection.ts";
import { jsonSample } from "../text/json-sample.ts";
import { isSecretName } from "../../../masking/secret-names.ts";
import { looksSecret } from "../../../masking/find-secrets.ts";
import { percentDecoded } from "../../../text/percent-decoded.ts";

const MAX_ENTRIES = 20_000;
const STATIC_TYPE =
  /^(?:text\/css|text\/html|image\/|font\/|audio\/|video\/|application\/(?:x-)?(?:javascript|font|wasm)|text\/javascript)/i;
const STATIC_FILE = /\.(?:js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|otf|eot|mp4|webm|mp3|wasm|html?)$/i;
const STATIC_KIND =
  /^(?:stylesheet|script|image|font|media|document|manifest|preflight|websocket|eventsource|ping|beacon)$/i;

const MOST_GROUPS = 1_000;
const MOST_SAMPLES = 20;
const MOST_ITEMS = 5;
const MAX_DEPTH = 40;
/** Of one object. */
const MOST_MEMBERS = 1_000;
/** Parameters, headers or members of a form of one operation. */
const MOST_NAMES = 500;
/** What clients add by themselves. */
const OF_CLIENTS =
  /^(?::.*|host|connection|content-length|accept|accept-encoding|user-agent|cache-control|te|x-requested-with|cookie)$/;

/**
 * A recording of a browser as a collection: one request for each method and path. Of what was recorded only names and
 * types are kept, because the values are credentials and data of people.
 */
export function harCollection(value: unknown, name: string): RecordedRequests {
  const { entries, left } = apiEntries(value);
  const groups = pathGroups(entries);
  if (groups.length === 0) {
    throw new NexusError("CONFIG_INVALID", `The recording ${name} has no request of an API`, {
      phase: "config",
      hint: "Record again while the page loads its data, and save all requests as HAR.",
      mayHaveReached: false,
    });
  }
  const items = groups.slice(0, MOST_GROUPS).map(itemOf);
  const why = [...left]
    .slice(0, 20)
    .map(([reason, count]) => `${count} recorded requests were left out: they ${reason}.`);
  const kept = `${entries.length} recorded requests are kept as a collection with names and types only: no value of a credential, an argument or an answer is in it.`;
  const most = groups.length > MOST_GROUPS ? [`Only the first ${MOST_GROUPS} operations were read.`] : [];
  const host = entries[0]?.url.host ?? name;
  return { collection: collectionOf(host, items), remarks: [kept, ...most, ...why] };
}

function itemOf({ method, path, entries }: PathGroup): object {
  const [first] = entries;
  const url = `${first?.url.origin ?? ""}${path}${queryOf(entries)}`;
  const headers = first ? headersOf(entries) : [];
  const cookies = cookiesOf(entries);
  const item = requestItem(
    { method, url, headers, cookies, hasUser: false, bearer: false, awsSigning: undefined, body: bodyOf(entries) },
    { name: "" },
  );
  return { ...item, response: responsesOf(entries) };
}

/** Names of all requests; one that not every request has is not needed. */
function queryOf(entries: readonly HarEntry[]): string {
  const values = new Map<string, string>();
  for (const { url } of entries) {
    for (const [name, value] of url.searchParams) if (!values.has(name)) values.set(name, typeText(name, value));
  }
  const text = new URLSearchParams([...values].slice(0, MOST_NAMES)).toString();
  return text === "" ? "" : `?${text}`;
}

/** A word that a person did not write, or the type of the value. */
function typeText(name: string, value: string): string {
  if (isSecretName(name) || looksSecret(value)) return value;
  if (/^(?:true|false)$/.test(value)) return "<boolean>";
  if (/^-?\d{1,9}$/.test(value)) return "<integer>";
  return "<string>";
}

function headersOf(entries: readonly HarEntry[]): CurlRequest["headers"] {
  const [first, ...others] = entries;
  const counts = new Map<string, number>();
  for (const { headers } of others) {
    for (const name of new Set(headers.map(([each]) => each))) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const shared = (first?.headers ?? []).filter(
    ([name]) => !OF_CLIENTS.test(name) && (counts.get(name) ?? 0) === others.length,
  );
  return shared.slice(0, MOST_NAMES).map(([name, value]) => {
    const isPlain = name === "content-type" || name === "authorization" || isSecretName(name) || looksSecret(value);
    return [name, isPlain ? value : "<string>"];
  });
}

function cookiesOf(entries: readonly HarEntry[]): CurlRequest["cookies"] {
  const [first] = entries;
  const text = first?.headers.find(([name]) => name === "cookie")?.[1] ?? "";
  const names = text.split(";").flatMap((pair) => /^\s*([^=\s]+)=/.exec(pair)?.[1] ?? []);
  // Those of a login; others follow the visitor.
  const kept = names.filter((name) => /sess|auth|token|sid|jwt|login|csrf|xsrf/i.test(name));
  return kept.slice(0, 10).map((name) => [name, ""]);
}

function bodyOf(entries: readonly HarEntry[]): CurlRequest["body"] {
  const bodies = entries.flatMap(({ body }) => body ?? []).slice(0, MOST_SAMPLES);
  const [first] = bodies;
  if (!first) return { kind: "none" };
  if (/x-www-form-urlencoded/i.test(first.type)) {
    const names = new Set(bodies.flatMap(({ text }) => [...new URLSearchParams(text).keys()]));
    return {
      kind: "form",
      text: new URLSearchParams(
        [...names].slice(0, MOST_NAMES).map((name): [string, string] => [name, "<string>"]),
      ).toString(),
    };
  }
  const samples = bodies.flatMap(({ text }) => jsonSample(text) ?? []);
  if (samples.length === 0) return { kind: "file" };
  const text = jsonText(samples.map(({ value }) => typesOf(value, 0)).reduce(merged));
  return { kind: "text", text, isJson: true };
}

function responsesOf(entries: readonly HarEntry[]): object[] {
  const byStatus = new Map<number, { samples: unknown[]; type: string }>();
  for (const { status, answer } of entries) {
    const known = byStatus.get(status) ?? { samples: [], type: answer.type };
    byStatus.set(status, known);
    if (answer.sample && known.samples.length < MOST_SAMPLES) known.samples.push(typesOf(answer.sample.value, 0));
  }
  return [...byStatus].map(([code, { samples, type }]) => ({
    code,
    header: type === "" ? [] : [{ key: "Content-Type", value: type.split(";", 1)[0] }],
    ...(samples.length > 0 && { body: jsonText(samples.reduce(merged)) }),
  }));
}

/** The value with names and types only. */
function typesOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map((item) => typesOf(item, depth + 1));
    return items.length === 0 ? [] : distinct(items);
  }
  if (isRecord(value)) {
    // The name of a member can be data: the keys of a map, such as tokens or the addresses of people.
    const members = Object.entries(value)
      .filter(([name]) => !looksSecret(name) && !name.includes("@"))
      .slice(0, MOST_MEMBERS);
    return Object.fromEntries(members.map(([name, member]) => [name, typesOf(member, depth + 1)]));
  }
  if (typeof value === "string") return textType(value);
  if (typeof value === "number" || typeof value === "bigint") return 0;
  return value;
}

function distinct(items: readonly unknown[]): unknown[] {
  const records = items.filter(isRecord);
  const rest = items.filter((item) => !isRecord(item));
  const others = [...new Map(rest.map((item) => [JSON.stringify(item), item])).values()];
  return records.length === 0 ? others : [records.reduce<unknown>(merged, records[0]), ...others];
}

function textType(text: string): string {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)) return "<datetime>";
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return "<date>";
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) ? "<uuid>" : "<string>";
}

/** A value with the members of both. Where they differ otherwise, the first one that says something. */
function merged(a: unknown, b: unknown): unknown {
  if (isRecord(a) && isRecord(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].slice(0, MOST_MEMBERS);
    return Object.fromEntries(
      names.map((name) => [
        name,
        Object.hasOwn(a, name) && Object.hasOwn(b, name) ? merged(a[name], b[name]) : (a[name] ?? b[name] ?? null),
      ]),
    );
  }
  if (Array.isArray(a) && Array.isArray(b)) return distinct([...(a as unknown[]), ...(b as unknown[])]);
  if (a === null) return b;
  // Two formats of text have only text in common.
  return typeof a === "string" && typeof b === "string" && a !== b ? "<string>" : a;
}

/** Requests with the same method and the same path, but for the parts that differ. */
interface PathGroup {
  method: string;
  /** `{name}` for parts that differ. */
  path: string;
  entries: HarEntry[];
}

/** So many values in one place of a path are ids. */
const LEAST_VALUES = 3;
const ID =
  /^(?:\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}|\d{4}-\d\d-\d\d|[^@\s]+@[^@\s]+\.[a-z]+)$/i;

/** Groups requests. A part of a path is a parameter if it looks like an id, or if otherwise equal requests differ in it. */
function pathGroups(entries: readonly HarEntry[]): PathGroup[] {
  const groups = new Map<string, { method: string; steps: string[]; entries: HarEntry[] }>();
  for (const entry of entries) {
    const steps = entry.url.pathname.split("/").slice(1, 40).map(stepOf);
    const key = `${entry.method} ${steps.join("/")}`;
    const group = groups.get(key) ?? { method: entry.method, steps, entries: [] };
    groups.set(key, group);
    group.entries.push(entry);
  }
  for (const together of similar([...groups])) {
    const [first, ...others] = together.keys.map((key) => groups.get(key));
    if (!first) continue;
    first.steps = first.steps.map((step, index) => (index === together.at ? "{}" : step));
    for (const other of others) first.entries.push(...(other?.entries ?? []));
    for (const key of together.keys.slice(1)) groups.delete(key);
  }
  return [...groups.values()].map(({ steps, ...group }) => ({ ...group, path: `/${named(steps).join("/")}` }));
}

function stepOf(step: string): string {
  const text = percentDecoded(step);
  return ID.test(text) || looksSecret(text, "path") ? "{}" : step;
}

/** Groups that differ in one step, with answers of the same members. */
function similar(
  groups: readonly [string, { method: string; steps: string[]; entries: HarEntry[] }][],
): { keys: string[]; at: number }[] {
  const byRest = new Map<string, { keys: string[]; at: number }>();
  for (const [key, { method, steps, entries }] of groups) {
    for (const [at, step] of steps.entries()) {
      if (step === "{}" || at === 0) continue;
      const rest = steps.map((each, index) => (index === at ? "*" : each)).join("/");
      const found = `${method} ${rest} ${membersOf(entries)}`;
      const known = byRest.get(found) ?? { keys: [], at };
      byRest.set(found, known);
      known.keys.push(key);
    }
  }
  const taken = new Set<string>();
  return [...byRest].flatMap(([found, { keys, at }]) => {
    const free = keys.filter((key) => !taken.has(key));
    if (free.length < LEAST_VALUES || found.endsWith(" ")) return [];
    for (const key of free) taken.add(key);
    return [{ keys: free, at }];
  });
}

function membersOf(entries: readonly HarEntry[]): string {
  const value = entries.find(({ answer }) => answer.sample)?.answer.sample?.value;
  return isRecord(value) ? Object.keys(value).toSorted().slice(0, 50).join(",") : "";
}

/** Names for the parameters: `orders/{}` is `orders/{orderId}`. */
function named(steps: readonly string[]): string[] {
  const taken = new Map<string, number>();
  return steps.map((step, index) => {
    if (step !== "{}") return step;
    const before = (steps[index - 1] ?? "").replaceAll(/[^A-Za-z0-9]/g, "");
    const one = /[^s]s$/.test(before) ? before.slice(0, -1) : before;
    const name = /^[A-Za-z]/.test(one) ? `${one.charAt(0).toLowerCase()}${one.slice(1)}Id` : "id";
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return `{${count === 1 ? name : `${name}${count}`}}`;
  });
}

/** Why entries were left out, with how many. */
type LeftOut = Map<string, number>;

/** The requests of a recording that belong to its API, which is on the host with most answers in JSON. */
function apiEntries(value: unknown): { entries: HarEntry[]; left: LeftOut } {
  const log = isRecord(value) && isRecord(value["log"]) ? value["log"] : {};
  const list: unknown[] = Array.isArray(log["entries"]) ? log["entries"] : [];
  const left: LeftOut = new Map();
  const leave = (why: string) => void left.set(why, (left.get(why) ?? 0) + 1);
  const entries: HarEntry[] = [];
  for (const each of list.slice(0, MAX_ENTRIES)) {
    const entry = readEntry(each);
    const why = entry ? reasonAgainst(entry, each) : "could not be read";
    if (entry && why === undefined) entries.push(entry);
    else leave(why ?? "");
  }
  for (let more = list.length - MAX_ENTRIES; more > 0; more = 0) left.set("are beyond the limit of a recording", more);
  const host = mainHost(entries);
  const own = entries.filter(({ url }) => url.host === host);
  for (const { url } of entries) if (url.host !== host) leave(`are for another host (${url.host.slice(0, 80)})`);
  return { entries: own, left };
}

function readEntry(value: unknown): HarEntry | undefined {
  const { request, response } = isRecord(value) ? value : {};
  if (!isRecord(request) || typeof request["url"] !== "string" || !URL.canParse(request["url"])) return undefined;
  const url = new URL(request["url"]);
  const method = textOf(request["method"]).trim().toUpperCase();
  if (!/^https?:$/.test(url.protocol) || method === "") return undefined;
  const answer = isRecord(response) ? response : {};
  const content = isRecord(answer["content"]) ? answer["content"] : {};
  const post = isRecord(request["postData"]) ? request["postData"] : undefined;
  return {
    method,
    url,
    headers: pairsOf(request["headers"]).map(([name, each]) => [name.toLowerCase(), each]),
    body: post && sentBody(post),
    status: Number(answer["status"]) || 0,
    answer: { type: textOf(content["mimeType"]), sample: sampleOf(content) },
  };
}

function sentBody(post: Record<string, unknown>): HarEntry["body"] {
  const type = textOf(post["mimeType"]);
  const text = textOf(post["text"]);
  if (text !== "" || !Array.isArray(post["params"])) return text === "" ? undefined : { type, text };
  return { type, text: new URLSearchParams(pairsOf(post["params"])).toString() };
}

function sampleOf(content: Record<string, unknown>): { value: unknown } | undefined {
  const text = textOf(content["text"]);
  if (!/json/i.test(textOf(content["mimeType"])) || text === "") return undefined;
  return jsonSample(content["encoding"] === "base64" ? Buffer.from(text, "base64").toString("utf8") : text);
}

function pairsOf(list: unknown): [string, string][] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown): [string, string][] =>
    isRecord(each) && typeof each["name"] === "string" ? [[each["name"], textOf(each["value"])]] : [],
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function reasonAgainst({ method, url, status, answer }: HarEntry, entry: unknown): string | undefined {
  if (method === "OPTIONS") return "are preflights of a browser";
  if (/^#(?:\{|%7b)/i.test(url.hash)) return "have an address that was cut at #";
  const kind = isRecord(entry) ? textOf(entry["_resourceType"]) : "";
  if (STATIC_KIND.test(kind)) return "are files of a page or streams";
  if (STATIC_TYPE.test(answer.type) || (method === "GET" && STATIC_FILE.test(url.pathname))) {
    return "are files of a page or streams";
  }
  return status === 0 ? "have no answer" : undefined;
}

function mainHost(entries: readonly HarEntry[]): string {
  const counts = new Map<string, number>();
  for (const { url, answer } of entries) {
    counts.set(url.host, (counts.get(url.host) ?? 0) + (answer.sample ? 100 : 1));
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

/** A recorded request that could be one of an API. */
interface HarEntry {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: [name: string, value: string][];
  body: { type: string; text: string } | undefined;
  status: number;
  answer: { type: string; sample: { value: unknown } | undefined };
}
