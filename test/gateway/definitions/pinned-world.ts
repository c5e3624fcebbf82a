import type { Pin, ServerDefinition } from "../../../src/config/read/server-definition.ts";
import type { GatewayCoreOptions } from "../../../src/gateway/gateway-core.ts";
import type { View } from "../../../src/gateway/names/view.ts";
import type { HostEvent, HostOptions, Notification } from "../../../src/index.ts";
import { ANYBODY } from "../../../src/server/core/principal.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../../src/protocol/mcp.ts";
import { ScriptedServer } from "../../../src/testing/index.ts";
import { ALL, exchangeOf, openCore, type CoreWorld } from "../lists/core-world.ts";

/** A server whose tools a test changes while it runs. */
export class ChangingServer {
  readonly server: ScriptedServer;
  tools: Params[];
  /** Tools that it lists only to clients that can be asked. */
  forAble: Params[] = [];

  constructor(tools: Params[]) {
    this.tools = tools;
    this.server = new ScriptedServer({
      era: "modern",
      tools: {},
      prompts: { greet: "hi" },
      resources: { "notes://1": "one" },
    })
      .on("tools/list", (_params, { request }) => {
        const isAble = JSON.stringify(request.params?._meta ?? {}).includes('"elicitation"');
        return { resultType: "complete", tools: isAble ? [...this.tools, ...this.forAble] : this.tools, ttlMs: 0 };
      })
      .on("tools/call", ({ name }) => ({
        resultType: "complete",
        content: [{ type: "text", text: `ran ${String(name)}` }],
      }));
  }

  /** Resolves when the gateway reads the changed list. */
  async change(tools: Params[]): Promise<void> {
    const reads = this.server.methods.filter((method) => method === "tools/list").length;
    this.tools = tools;
    this.server.notify("notifications/tools/list_changed");
    await this.server.receive("tools/list", reads + 1);
  }

  /** The names of the tools that were called. */
  get called(): string[] {
    return this.server.received.flatMap((message) =>
      "method" in message && message.method === "tools/call" ? [String(message.params?.["name"])] : [],
    );
  }
}

export const tool = (name: string, more: Params = {}): Params => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: "object" },
  ...more,
});

export interface PinnedWorld extends CoreWorld {
  events: HostEvent[];
  names: (view?: View, capabilities?: ClientCapabilities) => Promise<string[]>;
  use: (name: string, view?: View) => Promise<unknown>;
  /** Notifications that a caller gets. */
  heard: Notification[];
}

/** The core of a gateway with one server, `s`. */
export async function openPinned(
  changing: ChangingServer,
  pin: Pin | undefined,
  { options, host }: { options?: Partial<GatewayCoreOptions>; host?: HostOptions } = {},
): Promise<PinnedWorld> {
  const world = await openCore({ servers: {}, ...host }, { waitMs: 60_000, ...options });
  const events: HostEvent[] = [];
  const heard: Notification[] = [];
  world.host.on((event) => events.push(event));
  await world.host.setServers([definition(changing, pin)]);
  await world.host.ready();
  const listening = await world.core.listen({
    view: ALL,
    principal: ANYBODY,
    owner: "listener",
    capabilities: {},
    interests: { lists: ["tools"] },
    onChange: (notification) => heard.push(notification),
  });
  return {
    ...world,
    events,
    heard,
    names: async (view = ALL, capabilities = {}) => {
      const { tools } = await world.core.handle(exchangeOf(view, "tools/list", {}, { capabilities }));
      return (tools as { name: string }[]).map(({ name }) => name);
    },
    use: (name, view = ALL) => world.core.handle(exchangeOf(view, "tools/call", { name, arguments: {} })),
    async [Symbol.asyncDispose]() {
      await listening.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

export function definition({ server }: ChangingServer, pin: Pin | undefined): ServerDefinition {
  return {
    id: "s",
    transport: server.transport,
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    ...(pin === undefined ? {} : { pin }),
    isolation: "owner",
    hides: [],
    trusted: true,
  };
}
