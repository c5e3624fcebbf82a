import type { CancelSignal } from "../../../async/cancellation.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import type { Deviation } from "../../codec/record/deviations.ts";
import type { PagingSpec, ToolFile } from "../../file/model/tool-file.ts";
import { accessToken, withToken } from "../access-token.ts";
import type { PackedValue } from "../apart/answer-task.ts";
import { goesApart, tellApart, valueApart } from "../apart/read-apart.ts";
import type { Tracing } from "../call-trace.ts";
import type { Failure } from "../failure.ts";
import type { MorePages } from "../response-reader.ts";
import type { RunnerParts } from "../runner-parts.ts";
import { type ReadValue, readValue, type ValueUse } from "../told-answer.ts";
import type { ToolPlan } from "../tool-plan.ts";
import {
  callAndTell,
  callForPage,
  callForValue,
  type CallOutcome,
  type PageOutcome,
  prepare,
  type PreparedRequest,
  type SendingFacts,
} from "../upstream-call.ts";
import type { UpstreamResponse } from "../upstream.ts";
import {
  type Gathered,
  gatheredAnswer,
  packPage,
  type PackedPage,
  type PackedPages,
  type ListPage,
  type PageRequest,
} from "./page.ts";

type Value = Record<string, unknown>;

/** No further page is requested once the answers have this many bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

interface ReadingFacts extends SendingFacts {
  /** Makes the value of `request_key()`. */
  key: () => string;
}

/** Sends the request of a read for its caller, and gathers the pages of a list if the tool has paging. */
export function readAndTell(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: ReadingFacts & { wantsPayload: boolean },
): Promise<CallOutcome> {
  const { paging } = plan.spec;
  // Most tools have none, and one more function that waits costs as much as the rest of this one.
  return paging ? tellPages(parts, plan, prepared, { ...facts, paging }) : callAndTell(parts, plan, prepared, facts);
}

async function tellPages(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: ReadingFacts & { wantsPayload: boolean; paging: PagingSpec },
): Promise<CallOutcome> {
  const read = await new PageReading(parts, plan, facts).read(prepared, facts);
  const { input } = prepared;
  switch (read.kind) {
    case "failure":
      return { reading: read.reading, answer: read.answer };
    case "here":
      return { reading: gatheredAnswer(parts, plan.spec, read.pages, input), answer: read.answer };
    case "packed": {
      const answer = facts.wantsPayload ? read.answer : undefined;
      return tellApart(parts, plan, { ...facts, answer, pages: read.pages, input });
    }
  }
}

/** The same for a program that goes on with the value. */
export async function readForValue(
  parts: RunnerParts,
  plan: ToolPlan,
  prepared: PreparedRequest,
  facts: ReadingFacts,
  use: ValueUse,
): Promise<ReadValue | PackedValue | Failure> {
  const { paging } = plan.spec;
  if (!paging) return callForValue(parts, plan, prepared, facts, use);
  const how = { ...facts, wantsPayload: false };
  const read = await new PageReading(parts, plan, { paging, ...how }).read(prepared, how);
  const { input } = prepared;
  switch (read.kind) {
    case "failure":
      return read.reading;
    case "here":
      return readValue(parts.telling, plan, gatheredAnswer(parts, plan.spec, read.pages, input), {
        use,
        bytes: read.bytes,
      });
    case "packed":
      return valueApart(parts, plan, { ...how, answer: undefined, pages: read.pages, input }, use);
  }
}

/** Pages, for a thread if they are very large together; with what came last. */
type PagesRead =
  | { kind: "failure"; reading: Failure; answer: UpstreamResponse | undefined }
  | { kind: "here"; pages: Gathered; bytes: number; answer: UpstreamResponse | undefined }
  | { kind: "packed"; pages: PackedPages; answer: UpstreamResponse | undefined };

/** One call of a tool with paging. */
class PageReading {
  readonly #parts: RunnerParts;
  readonly #plan: ToolPlan;
  readonly #paging: PagingSpec;
  readonly #how: { key: () => string; signal: CancelSignal | undefined };
  readonly #deviations: Deviation[] = [];
  readonly #seen = new Set<string>();
  readonly #pages: (ListPage | PackedPage)[] = [];
  #count = 0;
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

  async read(first: PreparedRequest, facts: SendingFacts & { wantsPayload: boolean }): Promise<PagesRead> {
    const { now } = this.#parts;
    const { maxPages } = this.#paging;
    const deadline = now() + (facts.timeoutMs ?? this.#plan.spec.limits.timeoutMs);
    let page = first;
    let last: UpstreamResponse | undefined;
    for (let count = 1; ; count++) {
      const trace = pageTrace(facts.trace, count);
      const timeoutMs = Math.max(1, deadline - now());
      const {
        reading,
        answer,
        bytes = 0,
      }: PageOutcome = await callForPage(this.#parts, this.#plan, page, {
        ...facts,
        trace,
        timeoutMs,
      });
      if (reading.kind === "failure") {
        if (count === 1) return { kind: "failure", reading, answer };
        const why = `page ${count} could not be read: ${reading.text}`;
        return this.#gathered(last, { next: this.#argumentsOf(page, first), why });
      }
      this.#take(reading, bytes);
      last = answer;
      if (!reading.following) return this.#gathered(last);
      const prepared = await this.#prepared(reading.following, page);
      if ("why" in prepared) return this.#gathered(last, prepared);
      const bound = this.#bound(count, maxPages) ?? (now() >= deadline ? "the time limit of one call" : undefined);
      if (bound !== undefined || facts.signal?.aborted) {
        return this.#gathered(last, {
          next: this.#argumentsOf(prepared, first),
          why: bound === undefined ? "the call was cancelled" : `${bound} is reached`,
        });
      }
      page = prepared;
    }
  }

  /** Page by page: to pack very large ones together would take too long at once. */
  #take(page: ListPage | PackedPage, bytes: number): void {
    const count = this.#pages.push(page);
    for (const deviation of page.deviations) {
      this.#deviations.push(count === 1 ? deviation : { ...deviation, path: `page ${count}: ${deviation.path}` });
    }
    this.#count += page.count;
    this.#bytes += bytes;
    if (!goesApart(this.#bytes)) return;
    for (const [index, each] of this.#pages.entries()) {
      if (each.kind === "page") this.#pages[index] = packPage(each);
    }
  }

  #bound(count: number, maxPages: number): string | undefined {
    const { maxItems } = this.#paging;
    if (count >= maxPages) return `the limit of ${maxPages} pages`;
    if (maxItems !== undefined && this.#count >= maxItems) return `the limit of ${maxItems} items`;
    return this.#bytes >= MAX_BYTES ? `the limit of ${MAX_BYTES} bytes` : undefined;
  }

  /** The last page with the items of all: its other members say where to go on. */
  #gathered(answer: UpstreamResponse | undefined, more?: MorePages): PagesRead {
    const about = { status: answer?.status ?? 200, deviations: this.#deviations, more };
    const packed = this.#pages.filter((page) => page.kind === "packed page");
    const [here, apart] = [this.#pages.filter((page) => page.kind === "page"), packed.at(-1)];
    if (apart) {
      const pages = { ...about, items: packed.map(({ items }) => items), others: apart.others };
      return { kind: "packed", pages, answer };
    }
    const pages = { ...about, items: here.flatMap(({ items }) => items), others: here.at(-1)?.others ?? {} };
    return { kind: "here", pages, bytes: this.#bytes, answer };
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
