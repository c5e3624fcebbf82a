import type { ServerStatus } from "../../host/host.ts";
import { isRecord } from "../../protocol/json-rpc.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import { TASKS_EXTENSION } from "../../protocol/meta.ts";
import { atLeast } from "../../protocol/revisions.ts";
import type { Offer } from "../exchange.ts";
import type { ServerNature } from "./server-nature.ts";

const APPS_EXTENSION = "io.modelcontextprotocol/ui";
/** Extensions that need no methods beyond those that the endpoint of all servers routes. */
const CARRIED = [TASKS_EXTENSION, APPS_EXTENSION];

/** What one server offers, in the form of the newest specification. */
export function offerOfOne(gateway: Implementation, { definition }: ServerStatus, nature: ServerNature): Offer {
  const { serverInfo, instructions } = nature;
  return {
    serverInfo: { ...gateway, title: serverInfo?.title ?? definition.name ?? serverInfo?.name ?? definition.id },
    capabilities: modernCapabilities(nature),
    instructions,
    ...UNKEPT,
  };
}

/** What all of them offer together: always the same, whichever of them are there, but for extensions. */
export function offerOfAll(
  gateway: Implementation,
  servers: readonly ServerStatus[],
  natures: readonly ServerNature[],
): Offer {
  const extensions = carriedExtensions(natures);
  return {
    serverInfo: gateway,
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
      ...(Object.keys(extensions).length > 0 ? { extensions } : {}),
    },
    instructions: instructionsFor(servers),
    ...UNKEPT,
  };
}

/** What is offered can change with the configuration at any time, and nothing would tell. */
const UNKEPT = { ttlMs: 0, cacheScope: "private" } as const;

function modernCapabilities(nature: ServerNature): Record<string, unknown> {
  const { capabilities } = nature;
  if (nature.era === "modern") return capabilities;
  const { tasks, ...rest } = capabilities;
  const modern: Record<string, unknown> = rest;
  if (takesTasks(tasks)) modern["extensions"] = { ...rest.extensions, [TASKS_EXTENSION]: {} };
  if (completesUntold(nature)) modern["completions"] = {};
  return modern;
}

function takesTasks(tasks: unknown): boolean {
  const requests = isRecord(tasks) ? tasks["requests"] : undefined;
  const tools = isRecord(requests) ? requests["tools"] : undefined;
  return isRecord(tools) && tools["call"] !== undefined;
}

/** Before 2025-03-26 there was the method, but no capability to declare it. */
function completesUntold({ protocolVersion, capabilities: { prompts, resources } }: ServerNature): boolean {
  return !atLeast(protocolVersion, "2025-03-26") && (prompts !== undefined || resources !== undefined);
}

function carriedExtensions(natures: readonly ServerNature[]): Record<string, unknown> {
  const extensions: Record<string, unknown> = {};
  for (const nature of natures) {
    const { extensions: its } = modernCapabilities(nature);
    if (!isRecord(its)) continue;
    for (const name of CARRIED) if (its[name] !== undefined) extensions[name] ??= its[name];
  }
  return extensions;
}

function instructionsFor(servers: readonly ServerStatus[]): string | undefined {
  if (servers.length === 0) return undefined;
  const names = servers.map(({ id, definition: { name } }) => (name === undefined ? id : `${id} (${name})`));
  return `Several servers in one place: ${names.join(", ")}. Names begin with the server they belong to: <server>__<tool or prompt>, <server>+<URI of a resource>.`;
}
