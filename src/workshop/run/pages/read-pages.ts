import type { CancelSignal } from "../../../async/cancellation.ts";
import { accessToken, withToken } from "../access-token.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { isTrue } from "../../expression/arithmetic.ts";
import { evaluate } from "../../expression/evaluate.ts";
import { parseExpression } from "../../expression/parse.ts";
import { renderTemplate } from "../../expression/template.ts";
import type { Deviation } from "../../codec/record/deviations.ts";
import type { PagingSpec, ToolFile, NextPage } from "../../file/model/tool-file.ts";
import type { Tracing } from "../call-trace.ts";
import type { MorePages, Success } from "../response-reader.ts";
import type { RunnerParts } from "../runner-parts.ts";
import type { ToolPlan } from "../tool-plan.ts";
import {
  callUpstream,
  prepare,
  type PreparedRequest,
  type SendingFacts,
  type UpstreamOutcome,
} from "../upstream-call.ts";
import type { UpstreamResponse } from "../upstream.ts";
import { isRecord } from "../../../json/is-record.ts";
import { showing } from "../completed-values.ts";

type Value = Record<string, unknown>;

/** No further page is requested once the answers have this many bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

interface ReadingFacts extends SendingFacts {
  /** Makes the value of `request_key()`. */
  key: () => string;
}

/** Sends the request of a read, and gathers the pages of a list if the tool has paging. */
export function readUpstream(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: ReadingFacts,
): Promise<UpstreamOutcome> {
  const { paging } = plan.spec;
  return paging
    ? new PageReading(parts, plan, { paging, key: facts.key, signal: facts.signal }).read(prepared, facts)
    : callUpstream(parts, plan, prepared, facts);
}

/** One call of a tool with paging. */
class PageReading {
  readonly #parts: RunnerParts;
  readonly #plan: ToolPlan;
  readonly #paging: PagingSpec;
  readonly #how: { key: () => string; signal: CancelSignal | undefined };
  readonly #items: unknown[] = [];
  readonly #deviations: Deviation[] = [];
  readonly #seen = new Set<string>();
  #bytes = 0;

  constructor(
    parts: RunnerParts,
    plan: ToolPlan,
    { paging, key, signal }: { paging: PagingSpec; key: () => string; signal: CancelSignal | undefined },
  ) {
    this.#parts = parts;
    this.#plan = plan;
    this.#paging = paging;
    this.#how = { key, signal };
  }

  async read(first: PreparedRequest, facts: SendingFacts): Promise<UpstreamOutcome> {
    const { now } = this.#parts;
    const { maxPages, next: how } = this.#paging;
    const deadline = now() + (facts.timeoutMs ?? this.#plan.spec.limits.timeoutMs);
    let page = first;
    let last: { outcome: UpstreamOutcome; reading: Success } | undefined;
    for (let count = 1; ; count++) {
      const trace = pageTrace(facts.trace, count);
      const outcome = await callUpstream(this.#parts, this.#plan, page, {
        ...facts,
        trace,
        timeoutMs: Math.max(1, deadline - now()),
      });
      const { reading, answer } = outcome;
      if (reading.kind === "failure") {
        if (!last) return outcome;
        const why = `page ${count} could not be read: ${reading.text}`;
        return this.#gathered(first, last, { next: this.#argumentsOf(page, first), why });
      }
      const items = this.#take(reading, count, answer?.body.length ?? 0);
      last = { outcome, reading };
      const following = this.#isLast(reading, page.input, answer?.status)
        ? undefined
        : nextPage(how, { input: page.input, value: reading.value, items, answer });
      if (!following) return this.#gathered(first, last);
      const prepared = await this.#prepared(following, page);
      if ("why" in prepared) return this.#gathered(first, last, prepared);
      const bound = this.#bound(count, maxPages) ?? (now() >= deadline ? "the time limit of one call" : undefined);
      if (bound !== undefined || facts.signal?.aborted) {
        return this.#gathered(first, last, {
          next: this.#argumentsOf(prepared, first),
          why: bound === undefined ? "the call was cancelled" : `${bound} is reached`,
        });
      }
      page = prepared;
    }
  }

  #take({ value, deviations }: Success, count: number, bytes: number): readonly unknown[] {
    const found = memberAt(value, this.#paging.items);
    const items: readonly unknown[] = Array.isArray(found) ? found : [];
    // One by one: a page may have more items than a call takes arguments.
    for (const item of items) this.#items.push(item);
    for (const deviation of deviations) {
      this.#deviations.push(count === 1 ? deviation : { ...deviation, path: `page ${count}: ${deviation.path}` });
    }
    this.#bytes += bytes;
    return items;
  }

  #isLast({ value }: Success, input: Value, status = 200): boolean {
    const { last } = this.#paging;
    return last !== undefined && isTrue(evaluate(parseExpression(last), { ...value, input, status }));
  }

  #bound(count: number, maxPages: number): string | undefined {
    const { maxItems } = this.#paging;
    if (count >= maxPages) return `the limit of ${maxPages} pages`;
    if (maxItems !== undefined && this.#items.length >= maxItems) return `the limit of ${maxItems} items`;
    return this.#bytes >= MAX_BYTES ? `the limit of ${MAX_BYTES} bytes` : undefined;
  }

  /** The request of the next page, or why there is none. */
  async #prepared(following: PageRequest, page: PreparedRequest): Promise<PreparedRequest | { why: string }> {
    const key = JSON.stringify(following);
    if (this.#seen.has(key)) return { why: "the API named the same page twice" };
    this.#seen.add(key);
    try {
      if (following.kind === "link") return await this.#linked(following.address, page);
      const { field, value } = following;
      const isText = this.#fieldType(field) === "string";
      const input = { ...page.input, [field]: isText ? String(value) : value };
      return await prepare(this.#parts, this.#plan, input, this.#how);
    } catch (error) {
      // What was read stays: the value of the API may be one that a request cannot hold.
      if (!(error instanceof NexusError)) throw error;
      return { why: `the next page cannot be requested: ${error.message}` };
    }
  }

  /** With the newest token: that of the page before may have been renewed while it was read. */
  async #linked(address: string, page: PreparedRequest): Promise<PreparedRequest | { why: string }> {
    const linked = linkedRequest(page, address, this.#plan);
    if ("why" in linked || !page.grant) return linked;
    const token = await accessToken(this.#parts, this.#plan, page.grant, { signal: this.#how.signal });
    return { ...linked, request: withToken(linked.request, token) };
  }

  #fieldType(field: string): string | undefined {
    const shape = this.#parts.api.file.types[this.#plan.spec.input]?.fields[field]?.shape;
    return shape?.kind === "scalar" ? shape.type : undefined;
  }

  /** The arguments that request this page; undefined if there are none. */
  #argumentsOf(page: PreparedRequest, first: PreparedRequest): Value | undefined {
    const { next } = this.#paging;
    if (next.kind !== "link") return { [next.to]: page.input[next.to] };
    return argumentsForLink(page.request.url, first.request.url, {
      plan: this.#plan,
      types: this.#parts.api.file.types,
    });
  }

  /** The last page with the items of all: its other members say where to go on. */
  #gathered(
    { input }: PreparedRequest,
    { outcome, reading }: { outcome: UpstreamOutcome; reading: Success },
    more?: MorePages,
  ): UpstreamOutcome {
    const { values, hidden } = this.#parts;
    const { type = "", text } = this.#plan.spec.response;
    const status = outcome.answer?.status ?? 200;
    const whole = withMemberAt(reading.value, this.#paging.items, this.#items);
    const value = values.complete(type, whole, { input, status });
    const line = renderTemplate(text, { ...value, input, status }, showing(hidden, input));
    const success: Success = { kind: "success", value, deviations: this.#deviations, text: line };
    return { ...outcome, reading: more ? { ...success, more } : success, bytes: this.#bytes };
  }
}

/** Pages share the progress: the first gets half of it, and each further one a smaller part. */
function pageTrace(trace: Tracing, count: number): Tracing {
  const [from, to] = [1 - 1 / count, 1 - 1 / (count + 1)];
  return {
    correlation: trace.correlation,
    note: (level, message, data) => trace.note(level, message, count === 1 ? data : { page: count, ...data }),
    reached: (share, message) =>
      trace.reached(from + share * (to - from), count === 1 ? message : `Page ${count}: ${message}`),
  };
}

/**
 * The request for an address from an answer: with the same headers, only at the same origin. The allowed prefixes are
 * checked again when it is sent.
 */
function linkedRequest(
  page: PreparedRequest,
  address: string,
  { secrets }: ToolPlan,
): PreparedRequest | { why: string } {
  const before = new URL(page.request.url);
  const url = URL.canParse(address, before.href) ? new URL(address, before) : undefined;
  if (!url) return { why: "the address of the next page is not valid" };
  if (url.origin !== before.origin || url.username !== "" || url.password !== "") {
    return { why: `the next page is at another place (${url.origin}), which is not followed` };
  }
  url.hash = "";
  // Credentials are ours, whatever the address says.
  for (const name of Object.keys(secrets?.query ?? {})) {
    url.searchParams.delete(name);
    for (const value of before.searchParams.getAll(name)) url.searchParams.append(name, value);
  }
  return { ...page, request: { ...page.request, url: url.href } };
}

/** The arguments that make the same request as an address; undefined if arguments cannot say it. */
function argumentsForLink(
  address: string,
  first: string,
  { plan, types }: { plan: ToolPlan; types: ToolFile["types"] },
): Record<string, unknown> | undefined {
  const [url, start] = [new URL(address), new URL(first)];
  if (url.pathname !== start.pathname) return undefined;
  const { input, request } = plan.spec;
  const found: Record<string, unknown> = {};
  for (const [name, text] of url.searchParams) {
    if (start.searchParams.get(name) === text) continue;
    const parameter = Object.hasOwn(request.query, name) ? request.query[name] : undefined;
    if (!parameter || !("field" in parameter)) return undefined;
    const shape = types[input]?.fields[parameter.field]?.shape;
    if (shape?.kind !== "scalar") return undefined;
    found[parameter.field] = shape.type === "integer" || shape.type === "number" ? Number(text) : text;
  }
  return found;
}

/** A page that was read. */
interface PageRead {
  input: Value;
  /** The answer as a value. */
  value: Value;
  items: readonly unknown[];
  answer: UpstreamResponse | undefined;
}

/** What the next page is requested with: an input field, or an address. Undefined after the last page. */
type PageRequest = { kind: "field"; field: string; value: string | number } | { kind: "link"; address: string };

/** Finds out whether there is another page. */
function nextPage(next: NextPage, { input, value, items, answer }: PageRead): PageRequest | undefined {
  switch (next.kind) {
    case "cursor": {
      const cursor = memberAt(value, next.from);
      const isThere = (typeof cursor === "string" && cursor !== "") || typeof cursor === "number";
      return isThere ? { kind: "field", field: next.to, value: cursor } : undefined;
    }
    case "page": {
      if (isLast(items, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], next.first) + 1 };
    }
    case "offset": {
      if (isLast(items, sizeOf(next.size, input))) return undefined;
      return { kind: "field", field: next.to, value: numberOf(input[next.to], 0) + items.length };
    }
    case "link": {
      const address = next.from === undefined ? linkIn(answer) : memberAt(value, next.from);
      return typeof address === "string" && address !== "" ? { kind: "link", address } : undefined;
    }
  }
}

/** The value at a path of members with dots. */
function memberAt(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((found, name) => {
    return isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }, value);
}

/** A copy with another value at a path. */
function withMemberAt(value: unknown, path: string, member: unknown): Value {
  const [name = "", ...rest] = path.split(".");
  const members = isRecord(value) ? value : {};
  return { ...members, [name]: rest.length === 0 ? member : withMemberAt(members[name], rest.join("."), member) };
}

/** An empty page, or one that is shorter than its size. */
function isLast(items: readonly unknown[], size: number | undefined): boolean {
  return items.length === 0 || (size !== undefined && items.length < size);
}

function sizeOf(size: string | number | undefined, input: Value): number | undefined {
  const given = typeof size === "string" ? input[size] : size;
  return typeof given === "number" ? given : undefined;
}

function numberOf(value: unknown, standard: number): number {
  return typeof value === "number" ? value : standard;
}

/** RFC 8288: `<https://…?page=2>; rel="next"`. */
function linkIn(answer: UpstreamResponse | undefined): string | undefined {
  const header = answer?.headers["link"];
  const text = Array.isArray(header) ? header.join(", ") : (header ?? "");
  for (const [, address, parameters = ""] of text.matchAll(
    /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;<\s]*))*)/g,
  )) {
    const [, quoted, plain = ""] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))/i.exec(parameters) ?? [];
    if ((quoted ?? plain).toLowerCase().split(/\s+/).includes("next")) return address;
  }
  return undefined;
}
