import type { CallToolResult, HostOptions } from "../../src/index.ts";
import type { Message } from "../../src/protocol/json-rpc.ts";
import { TASKS_EXTENSION } from "../../src/protocol/meta.ts";
import { ScriptedServer } from "../../src/testing/scripted-server.ts";

export const TENANTS = ["default", "acme", "beta"] as const;
export type TeamTenant = (typeof TENANTS)[number];

/** Something of one server, as access rules name it. */
export interface Thing {
  tenant: string;
  server: string;
  kind: "server" | "tool" | "prompt" | "resource" | "method";
  name: string;
}

/** Stands in everything that a server says about a thing, so that a reader knows whose it is. */
export function markOf({ tenant, server, kind, name }: Thing): string {
  return `mark:${tenant}:${server}:${kind}:${name.replaceAll(/[^\w-]/g, "_")}:`;
}

const MARKS = /mark:([\w-]+):([\w-]+):(\w+):([\w-]*):/g;

/** The things whose marks a text has. */
export function* thingsIn(text: string): Generator<Thing> {
  for (const [, tenant = "", server = "", kind = "", name = ""] of text.matchAll(MARKS)) {
    yield { tenant, server, kind: kind as Thing["kind"], name };
  }
}

/** Servers that every tenant has under the same id, and one that only this tenant has. */
function serverIds(tenant: string): string[] {
  return ["docs", "old", "vault", `${tenant}-only`];
}

const TASK = { taskId: "t1", status: "working", ttlMs: null, pollIntervalMs: 5 };
const READ_ONLY = { annotations: { readOnlyHint: true } };

/** A server with something of everything, each with its own mark. */
function markedServer(tenant: string, server: string): ScriptedServer {
  const era = server === "old" ? "legacy" : "modern";
  const mark = (kind: Thing["kind"], name: string) => markOf({ tenant, server, kind, name });
  const question = { mode: "form", message: mark("tool", "asking"), requestedSchema: { type: "object" } };
  const text = (name: string) => ({ description: mark("tool", name), run: () => mark("tool", name) });
  const marks = (kind: Thing["kind"], ...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, mark(kind, name)]));
  const scripted = new ScriptedServer({
    era,
    info: { name: mark("server", server), version: "1.0.0" },
    instructions: mark("server", server),
    tools: {
      look: {
        ...text("look"),
        ...READ_ONLY,
        inputSchema: { type: "object", properties: { who: { type: "string" } } },
      },
      secret: text("secret"),
      asking: {
        ...READ_ONLY,
        run: async (_args, { ask }) => {
          await ask("elicitation/create", question);
          return mark("tool", "asking");
        },
      },
      working: {
        ...READ_ONLY,
        run: () =>
          era === "modern" ? ({ ...TASK, resultType: "task" } as unknown as CallToolResult) : mark("tool", "working"),
      },
    },
    prompts: marks("prompt", "greet", "hush"),
    resources: marks("resource", "note://own", "note://secret", `note://${tenant}`),
    capabilities: { completions: {}, ...(era === "modern" ? { extensions: { [TASKS_EXTENSION]: {} } } : {}) },
  });
  const template = (uriTemplate: string) => ({ uriTemplate, name: mark("resource", uriTemplate) });
  const content = (name: string) => ({ content: [{ type: "text", text: mark("tool", name) }] });
  return scripted
    .on("tools/call", ({ name, requestState }, { era: spoken, pass }) => {
      // With a state of its own, which callers carry.
      if (name !== "asking" || spoken === "legacy") return pass();
      if (requestState === question.message) return content("asking");
      const inputRequests = { sure: { method: "elicitation/create", params: question } };
      return { resultType: "input_required", inputRequests, requestState: question.message };
    })
    .on("resources/templates/list", ({ cursor }) =>
      cursor === undefined
        ? { resourceTemplates: [template("note://{name}")], nextCursor: "2" }
        : { resourceTemplates: [template("more://{name}")] },
    )
    .on("completion/complete", ({ ref }) => {
      const { type, name, uri } = ref as Record<string, string>;
      const of = type === "ref/prompt" ? mark("prompt", name ?? "") : mark("resource", uri ?? "");
      return { completion: { values: [of] } };
    })
    .on("acme/run", () => ({ ran: mark("method", "acme/run") }))
    .on("tasks/get", () => ({ ...TASK, status: "completed", result: content("working") }))
    .on("tasks/update", () => ({}))
    .on("tasks/cancel", () => ({}));
}

/** The servers of one tenant, by id. */
export class TeamServers {
  readonly #all: ReadonlyMap<string, ScriptedServer>;

  constructor(tenant: string) {
    this.#all = new Map(serverIds(tenant).map((id) => [id, markedServer(tenant, id)]));
  }

  get entries(): NonNullable<HostOptions["servers"]> {
    return Object.fromEntries([...this.#all].map(([id, { transport }]) => [id, transport]));
  }

  get(id: string): ScriptedServer | undefined {
    return this.#all.get(id);
  }

  /** What came to each of them. */
  *received(): Generator<{ server: string; received: readonly Message[] }> {
    for (const [server, { received }] of this.#all) yield { server, received };
  }

  forget(): void {
    for (const { received } of this.#all.values()) received.length = 0;
  }
}
