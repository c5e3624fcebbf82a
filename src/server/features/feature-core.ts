import { asNexusError, messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Interests } from "../../protocol/interests.ts";
import { type Result, type Notification, type Params } from "../../protocol/json-rpc.ts";
import type { Implementation, ServerCapabilities } from "../../protocol/mcp.ts";
import { paramHeadersOf, type ParamHeader } from "../../protocol/param-headers.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import { isCacheable } from "../../protocol/methods.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Core, Exchange, Listening, ListenRequest, Offer } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";
import { contextOf, SessionNotes, type ContextParts } from "./call-context.ts";
import type { Features } from "./features.ts";
import { FeatureMethods } from "./feature-methods.ts";
import { InputNeeded } from "./input-needed.ts";
import { SealedRounds } from "./sealed-rounds.ts";
import { changeMethod, type ChangingList } from "../../protocol/list-kinds.ts";

interface FeatureCoreOptions {
  info: Implementation;
  features: Features;
  instructions: string | undefined;
  revisions: readonly Revision[] | undefined;
  pageSize: number | undefined;
  ttlMs: number | undefined;
  stateKey: Uint8Array | undefined;
  capabilities: ServerCapabilities | undefined;
  legacyTasks: Record<string, unknown> | undefined;
  /** Whether answers to questions are compared with the form that was asked. */
  checksValues: boolean;
}

/** Tools, resources and prompts of one server, behind whatever edge its clients come through. */
export class FeatureCore implements Core {
  readonly endpoint = undefined;
  readonly name = "";
  readonly revisions: readonly Revision[] | undefined;
  readonly changes = new FeatureChanges();
  #options: FeatureCoreOptions;
  readonly #methods: FeatureMethods;
  readonly #parts: ContextParts;

  constructor(options: FeatureCoreOptions) {
    this.#options = options;
    this.revisions = options.revisions;
    this.#methods = new FeatureMethods(options.features, options.pageSize ?? Number.MAX_SAFE_INTEGER);
    const { stateKey, checksValues } = options;
    this.#parts = { rounds: new SealedRounds(stateKey), sessions: new SessionNotes(), checksValues };
  }

  async offer(): Promise<Offer> {
    const { info: serverInfo, instructions, ttlMs = 0, legacyTasks } = this.#options;
    const capabilities = { ...this.#capabilities };
    return { serverInfo, capabilities, instructions, ttlMs, cacheScope: "public", legacyTasks };
  }

  serverInfo(): Implementation {
    return this.#options.info;
  }

  /** Clients are told what the other core tells about itself; the features stay. */
  present(other: FeatureCore): void {
    const { info, instructions } = other.#options;
    this.#options = { ...this.#options, info, instructions };
  }

  async handle(exchange: Exchange): Promise<Result> {
    const { method, params } = exchange;
    try {
      const result = await this.#methods.answer(method, params, contextOf(exchange, this.#parts));
      return this.#complete(method, result);
    } catch (error) {
      if (error instanceof InputNeeded) return error.result;
      if (error instanceof NexusError) throw error;
      // Why the call was given up says more than what came of it.
      if (exchange.signal.aborted) throw asNexusError(exchange.signal.reason);
      throw new NexusError("INTERNAL", messageOf(error), { method, cause: error });
    }
  }

  async listen(request: ListenRequest): Promise<Listening> {
    return this.changes.listen((wanted) => this.#accepted(wanted), request);
  }

  async paramHeaders(_principal: Principal, name: string): Promise<readonly ParamHeader[]> {
    const found = paramHeadersOf(this.#options.features.tools.get(name)?.tool.inputSchema);
    return found.ok ? found.headers : [];
  }

  release(owner: string): void {
    this.#parts.sessions.forget(owner);
  }

  #complete(method: string, result: Result): Result {
    if (!isRecord(result)) throw new TypeError(`The handler returned ${nameOf(result)} instead of a result`);
    const resultType = result.resultType ?? "complete";
    const isKept = isCacheable(method) && resultType === "complete";
    // Lists are the same for all; what a resource says may depend on who reads it, unless its handler says otherwise.
    const cacheScope = method === "resources/read" ? "private" : "public";
    const caching = isKept ? { ttlMs: this.#options.ttlMs ?? 0, cacheScope } : {};
    return { ...caching, ...result, resultType };
  }

  /** What this server can do, by what is declared so far. */
  get #capabilities(): ServerCapabilities {
    const { features, capabilities } = this.#options;
    if (capabilities) return capabilities;
    const { tools, resources, templates, prompts, extensions } = features;
    const completes = [...templates.values(), ...prompts.values()].some(({ complete }) => complete !== undefined);
    return {
      ...(tools.size > 0 && { tools: { listChanged: true } }),
      ...(resources.size + templates.size > 0 && { resources: { listChanged: true, subscribe: true } }),
      ...(prompts.size > 0 && { prompts: { listChanged: true } }),
      ...(completes && { completions: {} }),
      logging: {},
      ...(extensions.size > 0 && { extensions: Object.fromEntries(extensions) }),
    };
  }

  #accepted({ lists = [], resources = [], tasks = [] }: Interests): Interests {
    const offered = this.#capabilities;
    return {
      lists: lists.filter((list) => offered[list]?.listChanged === true),
      resources: offered.resources?.subscribe === true ? resources : [],
      tasks: offered.extensions?.[TASKS_EXTENSION] === undefined ? [] : tasks,
    };
  }
}

/** Handlers without types return anything. */
function nameOf(returned: unknown): string {
  return Array.isArray(returned) ? "an array" : returned === null ? "null" : typeof returned;
}

/** Tells everybody who listens what has changed. */
class FeatureChanges {
  readonly #listeners = new Set<FeatureListening>();

  listen(
    accepted: (interests: Interests) => Interests,
    { interests, onChange: tell, onEnd: end }: ListenRequest,
  ): Listening {
    const listening = new FeatureListening(accepted, { tell, end, onClose: (ended) => this.#listeners.delete(ended) });
    void listening.update(interests);
    this.#listeners.add(listening);
    return listening;
  }

  listChanged(list: ChangingList): void {
    const notification: Notification = { jsonrpc: "2.0", method: changeMethod(list) };
    for (const listening of this.#listeners) if (listening.accepted.lists?.includes(list)) listening.tell(notification);
  }

  resourceUpdated(uri: string): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
    for (const listening of this.#listeners) {
      if (listening.accepted.resources?.includes(uri)) listening.tell(notification);
    }
  }

  taskChanged(task: Params & { taskId: string }): void {
    const notification: Notification = { jsonrpc: "2.0", method: "notifications/tasks", params: task };
    for (const listening of this.#listeners) {
      if (listening.accepted.tasks?.includes(task.taskId)) listening.tell(notification);
    }
  }

  /** Ends what can be ended: sessions of legacy clients go on. */
  end(): void {
    for (const listening of this.#listeners) listening.end?.();
  }
}

class FeatureListening implements Listening {
  accepted: Interests = {};
  readonly tell: ListenRequest["onChange"];
  readonly end: ListenRequest["onEnd"];
  readonly #accept: (interests: Interests) => Interests;
  readonly #onClose: (listening: FeatureListening) => void;

  constructor(
    accept: (interests: Interests) => Interests,
    { tell, end, onClose }: Pick<FeatureListening, "tell" | "end"> & { onClose: (listening: FeatureListening) => void },
  ) {
    this.#accept = accept;
    this.tell = tell;
    this.end = end;
    this.#onClose = onClose;
  }

  async update(interests: Interests): Promise<void> {
    this.accepted = this.#accept(interests);
  }

  async close(): Promise<void> {
    this.#onClose(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
