import type { CallToolResult, HostOptions } from "../../../src/index.ts";
import { TASKS_EXTENSION } from "../../../src/protocol/meta.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";

export const TENANTS = ["default", "acme", "beta"] as const;
export type TenantName = (typeof TENANTS)[number];

/** Stands in everything that a tenant's servers say. */
export function markOf(tenant: string): string {
  return `property-of-${tenant}`;
}

const TASK = { taskId: "t1", status: "working", ttlMs: null, pollIntervalMs: 5 };

/** A server with something of everything, all of it marked with its tenant's name. */
function markedServer(tenant: string, era: "modern" | "legacy"): ScriptedServer {
  const mark = markOf(tenant);
  const question = { mode: "form", message: mark, requestedSchema: { type: "object" } };
  const server = new ScriptedServer({
    era,
    info: { name: mark, version: "1.0.0" },
    instructions: `Ask for ${mark}`,
    tools: {
      look: { description: mark, run: () => mark },
      [`look-${tenant}`]: { description: mark, run: () => mark },
      asking: async (_args, { ask }) => {
        await ask("elicitation/create", question);
        return mark;
      },
      working: {
        run: () => (era === "modern" ? ({ ...TASK, resultType: "task" } as unknown as CallToolResult) : mark),
      },
    },
    prompts: { greet: mark, [`greet-${tenant}`]: mark },
    resources: { "note://own": mark, [`note://${tenant}`]: mark },
    capabilities: { completions: {}, ...(era === "modern" ? { extensions: { [TASKS_EXTENSION]: {} } } : {}) },
  });
  const result = { content: [{ type: "text", text: mark }] };
  return server
    .on("tools/call", ({ name, requestState }, { era: spoken, pass }) => {
      // With a state of its own, which callers carry.
      if (name !== "asking" || spoken === "legacy") return pass();
      if (requestState === mark) return result;
      const inputRequests = { sure: { method: "elicitation/create", params: question } };
      return { resultType: "input_required", inputRequests, requestState: mark };
    })
    .on("resources/templates/list", ({ cursor }) =>
      cursor === undefined
        ? { resourceTemplates: [{ uriTemplate: "note://{name}", name: mark }], nextCursor: "2" }
        : { resourceTemplates: [{ uriTemplate: "more://{name}", name: mark }] },
    )
    .on("completion/complete", () => ({ completion: { values: [mark] } }))
    .on("acme/run", () => ({ ran: mark }))
    .on("tasks/get", () => ({ ...TASK, status: "completed", result }))
    .on("tasks/update", () => ({}))
    .on("tasks/cancel", () => ({}));
}

/** The servers of one tenant: two that every tenant has under the same id, and one of its own. */
export class MarkedServers {
  readonly tenant: string;
  readonly all: Readonly<Record<"docs" | "old" | "own", ScriptedServer>>;

  constructor(tenant: string) {
    this.tenant = tenant;
    this.all = {
      docs: markedServer(tenant, "modern"),
      old: markedServer(tenant, "legacy"),
      own: markedServer(tenant, "modern"),
    };
  }

  get ids(): string[] {
    return ["docs", "old", `${this.tenant}-only`];
  }

  get entries(): NonNullable<HostOptions["servers"]> {
    const { docs, old, own } = this.all;
    return { docs: docs.transport, old: old.transport, [`${this.tenant}-only`]: own.transport };
  }

  /** Whether a text has come to any of them. */
  hasReceived(text: string): boolean {
    return Object.values(this.all).some(({ received }) => JSON.stringify(received).includes(text));
  }

  forget(): void {
    for (const { received } of Object.values(this.all)) received.length = 0;
  }
}
