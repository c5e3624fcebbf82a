import { isRecord } from "../../../json/is-record.ts";
import { jsonSample } from "../text/json-sample.ts";

/** A recorded request that could be one of an API. */
export interface HarEntry {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: [name: string, value: string][];
  body: { type: string; text: string } | undefined;
  status: number;
  answer: { type: string; sample: { value: unknown } | undefined };
}

/** Why entries were left out, with how many. */
type LeftOut = Map<string, number>;

const MAX_ENTRIES = 20_000;
const STATIC_TYPE =
  /^(?:text\/css|text\/html|image\/|font\/|audio\/|video\/|application\/(?:x-)?(?:javascript|font|wasm)|text\/javascript)/i;
const STATIC_FILE = /\.(?:js|mjs|css|map|png|jpe?g|gif|svg|ico|webp|avif|woff2?|ttf|otf|eot|mp4|webm|mp3|wasm|html?)$/i;
const STATIC_KIND =
  /^(?:stylesheet|script|image|font|media|document|manifest|preflight|websocket|eventsource|ping|beacon)$/i;

/** The requests of a recording that belong to its API, which is on the host with most answers in JSON. */
export function apiEntries(value: unknown): { entries: HarEntry[]; left: LeftOut } {
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
  const method = textOf(request["method"], "").trim().toUpperCase();
  if (!/^https?:$/.test(url.protocol) || method === "") return undefined;
  const answer = isRecord(response) ? response : {};
  const content = isRecord(answer["content"]) ? answer["content"] : {};
  const post = isRecord(request["postData"]) ? request["postData"] : undefined;
  return {
    method,
    url,
    headers: pairsOf(request["headers"]).map(([name, each]) => [name.toLowerCase(), each]),
    body: post && bodyOf(post),
    status: Number(answer["status"]) || 0,
    answer: { type: textOf(content["mimeType"], ""), sample: sampleOf(content) },
  };
}

function bodyOf(post: Record<string, unknown>): HarEntry["body"] {
  const type = textOf(post["mimeType"], "");
  const text = textOf(post["text"], "");
  if (text !== "" || !Array.isArray(post["params"])) return text === "" ? undefined : { type, text };
  return { type, text: new URLSearchParams(pairsOf(post["params"])).toString() };
}

function sampleOf(content: Record<string, unknown>): { value: unknown } | undefined {
  const text = textOf(content["text"], "");
  if (!/json/i.test(textOf(content["mimeType"], "")) || text === "") return undefined;
  return jsonSample(content["encoding"] === "base64" ? Buffer.from(text, "base64").toString("utf8") : text);
}

function pairsOf(list: unknown): [string, string][] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown): [string, string][] =>
    isRecord(each) && typeof each["name"] === "string" ? [[each["name"], textOf(each["value"], "")]] : [],
  );
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function reasonAgainst({ method, url, status, answer }: HarEntry, entry: unknown): string | undefined {
  if (method === "OPTIONS") return "are preflights of a browser";
  if (/^#(?:\{|%7b)/i.test(url.hash)) return "have an address that was cut at #";
  const kind = isRecord(entry) ? textOf(entry["_resourceType"], "") : "";
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
