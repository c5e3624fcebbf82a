import { abortSignalOf } from "../../../src/async/cancellation.ts";
import type { GatewayExchange, GatewayListenRequest } from "../../../src/gateway/names/view.ts";
import type { Views } from "../../../src/gateway/requests/views.ts";
import type { Listening, Offer } from "../../../src/server/core/core.ts";
import { NexusError } from "../../../src/errors/nexus-error.ts";
import { isRecord } from "../../../src/json/is-record.ts";
import type { Notification, Params, Result } from "../../../src/protocol/json-rpc.ts";
import type { Implementation, Question } from "../../../src/protocol/mcp.ts";

type Tool = (exchange: GatewayExchange, args: Params) => Promise<Result> | Result;

/** A small core with real behaviour of its own: what reaches it and what it is told can be looked at. */
export class StandInCore implements Views {
  readonly exchanges: GatewayExchange[] = [];
  readonly released: string[] = [];
  readonly listenings = new Set<GatewayListenRequest>();
  /** Calls of "wait" end when this is called. */
  waiting: (() => void)[] = [];
  capabilities: Record<string, unknown> = {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    extensions: { "io.modelcontextprotocol/tasks": {}, "example.org/known": {}, "example.org/other": {} },
  };
  readonly results: Record<string, Result> = {};

  reaches(): boolean {
    return true;
  }

  resolve(): undefined {}

  sees(): boolean {
    return true;
  }

  async offer(): Promise<Offer> {
    return {
      serverInfo: { name: "stand-in", version: "1.0.0" },
      capabilities: this.capabilities,
      instructions: "Be kind.",
      ttlMs: 0,
      cacheScope: "private",
    };
  }

  serverInfo(): Implementation {
    return { name: "stand-in", version: "1.0.0" };
  }

  async handle(exchange: GatewayExchange): Promise<Result> {
    this.exchanges.push(exchange);
    const { method, params } = exchange;
    const fixed = this.results[method];
    if (fixed) return fixed;
    if (method !== "tools/call") throw new NexusError("CAPABILITY_MISSING", `Method not found: ${method}`);
    const tool = this.#tools[String(params["name"])];
    if (!tool) throw new NexusError("NAME_UNKNOWN", `No tool ${String(params["name"])}`);
    return tool(exchange, isRecord(params["arguments"]) ? params["arguments"] : {});
  }

  async listen(request: GatewayListenRequest): Promise<Listening> {
    const state = { ...request };
    this.listenings.add(state);
    const core = this.listenings;
    return {
      get accepted() {
        const resources = state.interests.resources?.filter((uri) => !uri.startsWith("missing:")) ?? [];
        return { ...state.interests, resources };
      },
      update: async (interests) => {
        state.interests = interests;
      },
      close: async () => void core.delete(state),
      [Symbol.asyncDispose]: async () => void core.delete(state),
    };
  }

  listsTool(): boolean {
    return true;
  }

  async paramHeaders(): Promise<[]> {
    return [];
  }

  release(owner: string): void {
    this.released.push(owner);
  }

  /** Tells everybody who listens to such changes. */
  change(notification: Notification): void {
    const uri = notification.params?.["uri"];
    for (const { interests, onChange } of this.listenings) {
      if (uri === undefined || interests.resources?.some((each) => each === uri)) onChange(notification);
    }
  }

  /** Lets the calls that wait come to their end. */
  letGo(): void {
    for (const go of this.waiting.splice(0)) go();
  }

  readonly #tools: Record<string, Tool> = {
    echo: (_exchange, args) => text(String(args["text"])),
    ask: async ({ caller, signal }, args) => {
      const questions = args["questions"] as Question[];
      const answers = await Promise.all(
        questions.map((question) =>
          (caller.ask ?? cannotAsk)(question, abortSignalOf(signal)).catch((error: NexusError) => ({
            failed: error.code,
            rpc: error.details.rpc,
          })),
        ),
      );
      return text(JSON.stringify(answers));
    },
    report: ({ caller }) => {
      const { progressToken } = caller;
      if (progressToken !== undefined) {
        for (const progress of [1, 2]) caller.notify(notice("progress", { progressToken, progress }));
      }
      caller.notify(notice("message", { level: "debug", data: "quiet" }));
      caller.notify(notice("message", { level: "error", data: "loud" }));
      return text("reported");
    },
    flood: ({ caller }, args) => {
      const message = "x".repeat(Number(args["bytes"]));
      for (let progress = 1; progress <= Number(args["events"]); progress++) {
        caller.notify(notice("progress", { progressToken: caller.progressToken, progress, message }));
      }
      return text("flooded");
    },
    deep: () => {
      let value: unknown = 1;
      for (let depth = 0; depth < 50_000; depth++) value = [value];
      return { content: [], structuredContent: { value } };
    },
    wait: ({ caller, signal }, args) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new NexusError("CANCELLED", "was cancelled")));
        this.waiting.push(() => resolve(text("waited")));
        if (args["tell"]) caller.notify(notice("progress", { progressToken: caller.progressToken, progress: 1 }));
      }),
  };
}

function notice(kind: string, params: Params): Notification {
  return { jsonrpc: "2.0", method: `notifications/${kind}`, params };
}

function text(value: string): Result {
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "x", version: "1" } };
  return { content: [{ type: "text", text: value }], resultType: "complete", _meta };
}

function cannotAsk(): Promise<Params> {
  return Promise.reject(new NexusError("INPUT_FAILED", "This connection has no caller to ask"));
}
