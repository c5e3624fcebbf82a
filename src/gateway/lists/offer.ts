import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { ServerStatus } from "../../host/host.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Implementation } from "../../protocol/mcp.ts";
import { CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS, TASKS_EXTENSION } from "../../protocol/meta.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Offer } from "../../server/core/core.ts";
import type { CompiledSet } from "../sets/compiled-set.ts";
import type { ServerNature } from "./list-reader.ts";

const APPS_EXTENSION = "io.modelcontextprotocol/ui";
/** Extensions that need only methods that the endpoint of all servers routes. */
const CARRIED = [TASKS_EXTENSION, APPS_EXTENSION];

/** The gateway's name on the endpoint of all servers. */
export const GATEWAY_INFO: Implementation = { name: "nexus", title: "Nexus", version: VERSION };

/** What one server offers, in the form of the newest specification. */
export function offerOfOne({ definition }: ServerStatus, nature: ServerNature): Offer {
  const serverInfo = ownInfo(definition, nature.serverInfo);
  return { serverInfo, capabilities: nature.capabilities, instructions: nature.instructions, ...UNKEPT };
}

/** The same where the gateway has resources or tools of its own beside it. */
export function offerWithOwn(member: "resources" | "tools", offer: Offer): Offer {
  const { capabilities } = offer;
  return { ...offer, capabilities: { ...capabilities, [member]: capabilities[member] ?? {} } };
}

/**
 * A server's name and version without members of the wrong type, because clients would refuse the whole answer for one
 * of them.
 */
export function ownInfo({ id, name }: ServerDefinition, info: Partial<Implementation> = {}): Implementation {
  const own = Object.entries(info).filter(([member, value]) => {
    return member === "icons" ? Array.isArray(value) && value.every(isIcon) : !TEXTS.has(member) || isText(value);
  });
  return { name: id, version: "unknown", ...(name === undefined ? {} : { title: name }), ...Object.fromEntries(own) };
}

const TEXTS = new Set(["name", "version", "title", "description", "websiteUrl"]);
const isText = (value: unknown) => typeof value === "string";
const isIcon = (icon: unknown) => isRecord(icon) && isText(icon["src"]);

/** What all servers offer together. It does not depend on which of them are connected, except for extensions. */
export function offerOfAll(servers: readonly ServerStatus[], natures: readonly ServerNature[]): Offer {
  const extensions = carriedExtensions(natures);
  return {
    serverInfo: GATEWAY_INFO,
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

/** What a set offers: the same as all servers, under the name of the set and with its own words. */
export function offerOfSet(set: CompiledSet, natures: readonly ServerNature[]): Offer {
  return { ...offerOfAll([], natures), serverInfo: setInfo(set), instructions: set.description };
}

export function setInfo({ name, description }: CompiledSet): Implementation {
  return { name, ...(description === undefined ? {} : { title: description }), version: VERSION };
}

/** What the search view of an endpoint offers: three tools, and what the endpoint says of its own. */
export function offerOfSearch(offer: Offer): Offer {
  const { instructions } = offer;
  return { ...offer, instructions: instructions === undefined ? SEARCHING : `${SEARCHING} ${instructions}` };
}

const SEARCHING = `Most tools are not listed here: find them with ${SEARCH_TOOLS}, read their arguments with ${DESCRIBE_TOOL}, and call them with ${CALL_TOOL}.`;

/** The offer can change with the configuration at any time, without a notification. */
const UNKEPT = { ttlMs: 0, cacheScope: "private" } as const;

function carriedExtensions(natures: readonly ServerNature[]): Record<string, unknown> {
  const extensions: Record<string, unknown> = {};
  for (const { capabilities } of natures) {
    const { extensions: its } = capabilities;
    if (!isRecord(its)) continue;
    for (const name of CARRIED) if (its[name] !== undefined) extensions[name] ??= its[name];
  }
  return extensions;
}

function instructionsFor(servers: readonly ServerStatus[]): string | undefined {
  if (servers.length === 0) return undefined;
  const names = servers.map(({ id, definition: { name } }) => (name === undefined ? id : `${id} (${name})`));
  return `This gateway combines several servers: ${names.join(", ")}. Names start with the server id: <server>__<tool or prompt>, <server>+<URI of a resource>.`;
}
