import { Turns } from "../../async/turns.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import { CALL_TOOL } from "../../protocol/meta.ts";
import type { CallContext } from "../../server/features/call-context.ts";
import type { ToolHandler } from "../../server/features/features.ts";
import { McpServer } from "../../server/features/mcp-server.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { Effect, ToolFile } from "../file/model/tool-file.ts";
import { CallTranslation, refreshMessage, type SeenVersion } from "../publish/translate-call.ts";
import type { SettingValues } from "../run/setting-values.ts";
import { REVISIONS, apiServer } from "./api-server.ts";
import type { ApiRunner } from "../run/api-runner.ts";
import { RecentMap } from "../../async/recent-map.ts";

/** Versions that were served before are remembered, so that it is known what their callers mean. */
const MAX_REMEMBERED = 8;

/** A call that ended with a question is repeated with the answer within this time, or begins again. */
const QUESTION_MS = 10 * 60_000;

interface VersionedServerOptions {
  /** Opens what makes the requests of a version. */
  open: (version: ServedVersion) => Promise<OpenedRunner>;
  /** Of the server now: what a call means may depend on them. */
  settings: () => SettingValues;
  /** Key for sealing state that clients carry between the rounds of a call. */
  stateKey: Uint8Array;
}

/** A version that is not current stays open for so long after a call of somebody who has seen it. */
const EARLIER_MS = 60_000;

type Arguments = Record<string, unknown>;

/**
 * A server whose API can change while it is served: new calls use the new version, and calls under way end with the version
 * that they began with. Its clients stay connected and are told that lists have changed.
 */
export class VersionedServer {
  readonly server: McpServer;
  readonly #options: VersionedServerOptions;
  /** By hash: the current version, and those that still have something to do. */
  readonly #running = new Map<string, RunningVersion>();
  readonly #earlier = new EarlierVersions();
  readonly #turns = new Turns();
  #current: RunningVersion;
  #translation: CallTranslation;
  #isClosed = false;

  static async open(first: ServedVersion, options: VersionedServerOptions): Promise<VersionedServer> {
    return new VersionedServer(first, await options.open(first), options);
  }

  private constructor(first: ServedVersion, opened: OpenedRunner, options: VersionedServerOptions) {
    this.#options = options;
    this.#translation = new CallTranslation(options.settings());
    const { api, title, version } = first.api.file;
    this.server = new McpServer({
      name: api,
      title,
      version: first.number ?? version,
      revisions: REVISIONS,
      stateKey: options.stateKey,
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true }, logging: {} },
    });
    this.server.unlisted((tool) => this.#findUnlisted(tool));
    this.#current = this.#add(first, opened);
    this.#earlier.remember(first);
    this.server.adopt(this.#current.server);
  }

  /** The hash of the version that new calls use. */
  get hash(): string {
    return this.#current.api.hash;
  }

  /** Serves this version from now on. If it cannot be opened, the current one stays. */
  show(next: ServedVersion): Promise<void> {
    return this.#turns.run(() => this.#show(next, next.api.hash !== this.hash));
  }

  /** The same, with a new runner even for the current version: its settings have changed. */
  showAgain(next: ServedVersion): Promise<void> {
    return this.#turns.run(() => this.#show(next, true));
  }

  /** Which versions are published: calls of those who have seen one are made by it. */
  setPublished(published: PublishedVersions): void {
    this.#earlier.published = published;
  }

  /** The number of calls by version since the last time, by hash. */
  takeCounts(): Map<string, number> {
    const counts = this.#earlier.takeCounts();
    for (const version of this.#running.values()) {
      if (version.calls > 0) counts.set(version.api.hash, (counts.get(version.api.hash) ?? 0) + version.calls);
      version.calls = 0;
    }
    return counts;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.ended();
    await Promise.all([...this.#running.values()].map((version) => version.close()));
  }

  async #show(next: ServedVersion, isNew: boolean): Promise<void> {
    if (!isNew || this.#isClosed) return;
    const before = this.#current;
    const running = this.#add(next, await this.#options.open(next));
    this.#current = running;
    this.#translation = new CallTranslation(this.#options.settings());
    this.#earlier.remember(next);
    this.server.adopt(running.server);
    this.#retire(before);
  }

  #add(version: ServedVersion, opened: OpenedRunner): RunningVersion {
    const { hash } = version.api;
    const before = this.#running.get(hash);
    const running = new RunningVersion(version, opened, this.#route);
    this.#running.set(hash, running);
    // One that was opened for earlier callers, or that has other settings.
    if (before) this.#retire(before);
    return running;
  }

  #retire(version: RunningVersion): void {
    const { hash } = version.api;
    void version.retire().then(() => {
      this.#earlier.count(hash, version.calls);
      version.calls = 0;
      // It may have come back meanwhile, with another runner.
      if (this.#running.get(hash) === version) this.#running.delete(hash);
    });
  }

  /** Called for each tool of a version when it is declared. The usual call costs nothing more than a comparison. */
  readonly #route: RouteCall = (version, tool, run) => (args, context) => {
    const { seen } = context;
    const isPlain = context.params["requestState"] === undefined;
    if (isPlain && (seen === version.api.hash || seen === undefined || (seen === "" && this.#earlier.isEmpty))) {
      version.calls++;
      return run(args, context);
    }
    return isPlain ? this.#translate(tool, args, context) : this.#continue(tool, version)(args, context);
  };

  /** The answer to a question belongs to the version that asked it; without a note, to `otherwise`. */
  #continue(tool: string, otherwise?: RunningVersion): ToolHandler {
    return (args, context) => {
      const { noted } = context;
      const version = noted === undefined ? otherwise : this.#running.get(noted);
      const run = version?.isClosed ? undefined : version?.handlers.get(tool);
      return run ? run(args, context) : this.#refuse(tool);
    };
  }

  /** A tool that the current version does not have, for callers of an earlier one. */
  #findUnlisted(tool: string): ToolHandler | undefined {
    const isKnown = this.#earlier.has(tool) || [...this.#running.values()].some(({ handlers }) => handlers.has(tool));
    if (!isKnown) return undefined;
    return (args, context) =>
      context.params["requestState"] === undefined
        ? this.#translate(tool, args, context)
        : this.#continue(tool)(args, context);
  }

  async #translate(tool: string, args: Arguments, context: CallContext): Promise<CallToolResult> {
    const current = this.#current.api;
    const { seen: hash = "" } = context;
    const seen = hash === "" ? undefined : await this.#earlier.find(hash, current);
    // What it means is not known, so no other version can mean the same.
    if (hash !== "" && !seen) return this.#refuse(tool);
    const versions = await this.#earlier.all(current);
    this.#earlier.count(seen?.hash ?? current.hash, 1);
    const isOwn = [current, ...versions.map(({ api }) => api)].some(({ file }) => Object.hasOwn(file.tools, tool));
    // What is found and described is called in the same version.
    const isLookup = !isOwn && tool !== CALL_TOOL;
    const isPublished = versions.some(({ api, isPublished: is }) => is && api === seen);
    if (isLookup) return this.#run(seen && isPublished ? seen : current, { tool, args, context });
    const call = isOwn ? { tool, arguments: args } : { tool: String(args["name"]), arguments: args["arguments"] ?? {} };
    const translated = this.#translation.of(call, { current, versions, seen }, Date.now());
    if (translated.kind === "refused") return refused(translated.message);
    const { by } = translated;
    const doneBy = Object.hasOwn(by.file.tools, call.tool) ? by.file.tools[call.tool] : undefined;
    if (by !== current && doneBy && isGraver(doneBy.effect, judgedEffect(current, tool))) return this.#refuse(tool);
    return this.#run(by, { tool, args, context });
  }

  async #run(
    { hash }: { hash: string },
    { tool, args, context }: { tool: string; args: Arguments; context: CallContext },
  ): Promise<CallToolResult> {
    const version = await this.#open(hash);
    const run = version?.handlers.get(tool);
    if (!run) return this.#refuse(tool);
    return (await run(args, context)) as CallToolResult;
  }

  /** The version, opened again if it is not current. */
  async #open(hash: string): Promise<RunningVersion | undefined> {
    const known = this.#running.get(hash);
    const version = known && !known.isClosed ? known : await this.#turns.run(() => this.#reopen(hash));
    if (version && version !== this.#current) version.keepFor(EARLIER_MS);
    return version;
  }

  async #reopen(hash: string): Promise<RunningVersion | undefined> {
    const other = this.#running.get(hash);
    if (other && !other.isClosed) return other;
    const served = await this.#earlier.load(hash);
    if (!served || this.#isClosed) return undefined;
    const version = this.#add(served, await this.#options.open(served));
    version.keepFor(EARLIER_MS);
    this.#retire(version);
    return version;
  }

  #refuse(tool: string): CallToolResult {
    return refused(refreshMessage(this.#current.api, tool));
  }
}

/** From the least to the gravest. */
const EFFECTS: readonly Effect[] = ["read", "write", "destructive"];

/**
 * The effect by which a gateway has judged a call: that of the list now. Whoever may only read must not write because an
 * earlier version does. Undefined if the tool is not offered: where there are rules, such a call was judged as destructive.
 */
function judgedEffect({ file: { tools } }: CompiledApi, tool: string): Effect | undefined {
  const spec = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  if (spec) return spec.offer === "none" ? undefined : spec.effect;
  const found = tool === CALL_TOOL ? Object.values(tools).filter(({ offer }) => offer === "search") : [];
  return EFFECTS.findLast((effect) => found.some((each) => each.effect === effect));
}

function isGraver(effect: Effect, judged: Effect | undefined): boolean {
  return judged !== undefined && EFFECTS.indexOf(effect) > EFFECTS.indexOf(judged);
}

function refused(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** One version of an API, as it was approved. */
export interface ServedVersion {
  api: CompiledApi;
  /** The number under which it was published; else that of the file counts. */
  number?: string;
  /** With its fake and checks, where it is served from the file itself. */
  file?: ToolFile;
  /** The tool file as it was written, where it was published. */
  text?: string;
  /** It came over the network, so it reaches only public addresses. */
  isForeign?: boolean;
  /** The texts of its documents, by name. */
  documents: Readonly<Record<string, string>>;
}

/** What makes the requests of a version. */
export interface OpenedRunner {
  runner: ApiRunner;
  /** Also ends what belongs to the runner, such as its fake. */
  close: () => Promise<void>;
}

/** What a handler does when it is called; a versioned server decides whether it is the right one. */
type RouteCall = (version: RunningVersion, tool: string, run: ToolHandler) => ToolHandler;

/** A version of an API whose tools can be called. */
class RunningVersion {
  readonly api: CompiledApi;
  /** Declares the tools and documents of this version. */
  readonly server: McpServer;
  /** What runs each tool in this version. */
  readonly handlers = new Map<string, ToolHandler>();
  /** Calls that were made by it since they were last counted. */
  calls = 0;
  readonly #opened: OpenedRunner;
  #keepUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #retired: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor({ api, documents, number }: ServedVersion, opened: OpenedRunner, route: RouteCall) {
    this.api = api;
    this.#opened = opened;
    this.server = apiServer(opened.runner, {
      documents,
      number,
      route: (tool, run) => {
        this.handlers.set(tool, run);
        return route(this, tool, run);
      },
      onQuestion: () => this.keepFor(QUESTION_MS),
    }).identifyTools(api.hash);
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** A version that is no longer current stays open at least so long. */
  keepFor(ms: number): void {
    this.#keepUntil = Math.max(this.#keepUntil, performance.now() + ms);
  }

  /** Closes after the last call, and after the last answer to its questions can have come. */
  retire(): Promise<void> {
    return (this.#retired ??= this.#retire());
  }

  close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#endPause?.();
    return (this.#closing ??= this.#opened.close());
  }

  async #retire(): Promise<void> {
    const { runner } = this.#opened;
    for (;;) {
      await runner.idle();
      const leftMs = this.#keepUntil - performance.now();
      if (this.isClosed || (leftMs <= 0 && runner.isIdle)) return this.close();
      await new Promise<void>((resolve) => {
        this.#endPause = resolve;
        this.#timer = setTimeout(resolve, Math.max(0, leftMs) + 1).unref();
      });
    }
  }
}

/** A version in the store. */
interface PublishedRef {
  hash: string;
  /** A retired one is known, but makes no calls. */
  isRetired: boolean;
  load: () => Promise<ServedVersion | undefined>;
}

/** All versions of an API, the lowest first. */
export type PublishedVersions = readonly PublishedRef[];

/** The versions of an API beside the current one: what callers may have seen. */
class EarlierVersions {
  #published: PublishedVersions = [];
  /** By hash: those that were served here, the newest last. */
  readonly #remembered = new RecentMap<string, ServedVersion>({ most: MAX_REMEMBERED });
  /** By hash: those that were read from the store. */
  readonly #loaded = new Map<string, Promise<ServedVersion | undefined>>();
  readonly #counts = new Map<string, number>();

  set published(published: PublishedVersions) {
    this.#published = published;
    for (const hash of this.#loaded.keys()) if (!published.some((ref) => ref.hash === hash)) this.#loaded.delete(hash);
  }

  /** Whether callers can only have seen the current version, as far as is known. */
  get isEmpty(): boolean {
    return this.#published.length <= 1;
  }

  remember(version: ServedVersion): void {
    this.#remembered.set(version.api.hash, version);
  }

  /** Whether a version that is in memory or published may have this tool. */
  has(tool: string): boolean {
    if (this.#published.length > 1) return true;
    return [...this.#remembered.values()].some(({ api }) => Object.hasOwn(api.file.tools, tool));
  }

  /** The content of any version that is known, published or not. */
  async find(hash: string, current: CompiledApi): Promise<CompiledApi | undefined> {
    return hash === current.hash ? current : (await this.#load(hash))?.api;
  }

  /** The same, to be served: only if it is published. */
  load(hash: string): Promise<ServedVersion | undefined> {
    const isPublished = this.#published.some((ref) => ref.hash === hash && !ref.isRetired);
    return isPublished ? this.#load(hash) : Promise.resolve(undefined);
  }

  /** All that callers may have seen, the oldest first, with the current one. */
  async all(current: CompiledApi): Promise<SeenVersion[]> {
    const refs = this.#published.filter(({ hash }) => hash !== current.hash);
    const others = await Promise.all(
      refs.map(async ({ hash, isRetired }) => ({ api: await this.find(hash, current), isPublished: !isRetired })),
    );
    const served = [...this.#remembered.values()].filter(
      ({ api: { hash } }) => hash !== current.hash && !refs.some((ref) => ref.hash === hash),
    );
    return [
      ...served.map(({ api }) => ({ api, isPublished: false })),
      ...others.flatMap(({ api, isPublished }) => (api ? [{ api, isPublished }] : [])),
      { api: current, isPublished: true },
    ];
  }

  count(hash: string, calls: number): void {
    if (calls > 0) this.#counts.set(hash, (this.#counts.get(hash) ?? 0) + calls);
  }

  takeCounts(): Map<string, number> {
    const counts = new Map(this.#counts);
    this.#counts.clear();
    return counts;
  }

  async #load(hash: string): Promise<ServedVersion | undefined> {
    const remembered = this.#remembered.get(hash);
    if (remembered) return remembered;
    const known = this.#loaded.get(hash);
    if (known) return known;
    const ref = this.#published.find((each) => each.hash === hash);
    if (!ref) return undefined;
    const loading = ref.load();
    this.#loaded.set(hash, loading);
    // What could not be read is tried again.
    loading.catch(() => this.#loaded.delete(hash));
    return loading;
  }
}
