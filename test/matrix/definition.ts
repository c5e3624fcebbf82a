import { atLeast, LATEST, LEGACY_REVISIONS, type Revision } from "../../src/protocol/revisions.ts";

/** Who calls: bare messages of each revision, the official SDK's clients, and ours. */
export const CLIENTS = [
  ...[...LEGACY_REVISIONS].sort().map((revision) => ({ name: revision, kind: "wire" as const, revision })),
  { name: LATEST, kind: "wire" as const, revision: LATEST as Revision },
  { name: "SDK 1.x", kind: "sdk1" as const, revision: "2025-11-25" as Revision },
  { name: "SDK 2.x", kind: "sdk2" as const, revision: LATEST as Revision },
  { name: "Nexus", kind: "own" as const, revision: LATEST as Revision },
];
export type ClientKind = (typeof CLIENTS)[number];

/** How it reaches the gateway. */
export const ENDPOINTS = ["/mcp", "/servers/<id>/mcp", "/search/mcp", "/sse", "--stdio"] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** How the gateway reaches the server. */
export const UPSTREAMS = [
  { name: "legacy stdio", revision: "2025-11-25" },
  { name: "legacy HTTP", revision: "2025-11-25" },
  { name: "SSE", revision: "2024-11-05" },
  { name: "modern stdio", revision: LATEST },
  { name: "modern HTTP", revision: LATEST },
] as const;
export type UpstreamKind = (typeof UPSTREAMS)[number];

export const FEATURES = [
  "tools",
  "resources",
  "templates",
  "prompts",
  "completion",
  "progress",
  "cancellation",
  "logging",
  "list-changed",
  "resource updates",
  "sampling",
  "elicitation form",
  "elicitation URL",
  "several rounds",
  "roots",
  "tasks",
] as const;
export type Feature = (typeof FEATURES)[number];

/** One conversation: a client on an endpoint, with one server behind. */
export interface Combination {
  client: ClientKind;
  endpoint: Endpoint;
  upstream: UpstreamKind;
}

/** Why a client cannot use an endpoint at all; undefined where it can. */
export function unreachable(client: ClientKind, endpoint: Endpoint): string | undefined {
  if (endpoint === "/sse") {
    // The clients that find out by themselves what a server speaks know the old transport too.
    if (client.revision === "2024-11-05" || client.kind === "sdk1" || client.kind === "own") return undefined;
    return "HTTP+SSE is the transport of 2024-11-05";
  }
  if (client.revision !== "2024-11-05" || endpoint === "--stdio") return undefined;
  return "2024-11-05 has no Streamable HTTP";
}

/** Why a cell cannot be; undefined where it must work. */
export function impossible({ client, upstream, endpoint }: Combination, feature: Feature): string | undefined {
  if (feature === "elicitation form") {
    if (!atLeast(client.revision, "2025-06-18")) return "the client's revision has no elicitation";
    if (!atLeast(upstream.revision, "2025-06-18")) return "the server's revision has no elicitation";
  }
  if (feature === "elicitation URL") {
    if (!atLeast(client.revision, "2025-11-25")) return "the client's revision has no elicitation by URL";
    if (!atLeast(upstream.revision, "2025-11-25")) return "the server's revision has no elicitation by URL";
  }
  if (feature === "list-changed" && endpoint === "/search/mcp") return "a search view lists the same three tools";
  if (feature === "tasks") {
    if (!atLeast(upstream.revision, "2025-11-25")) return "the server's revision has no tasks";
    if (client.kind === "sdk2" && upstream.revision === LATEST)
      return "the SDK's client takes no task for an answer, and a modern server MUST refuse such a client";
  }
  return undefined;
}

export function allCombinations(): Combination[] {
  return CLIENTS.flatMap((client) =>
    ENDPOINTS.filter((endpoint) => unreachable(client, endpoint) === undefined).flatMap((endpoint) =>
      UPSTREAMS.map((upstream) => ({ client, endpoint, upstream })),
    ),
  );
}

/** Every client on every endpoint once, every server behind every endpoint: a part that is quick enough for each run. */
export function someCombinations(): Combination[] {
  const all = allCombinations();
  const pairs = new Map<string, Combination[]>();
  for (const combination of all) {
    const key = `${combination.client.name} ${combination.endpoint}`;
    pairs.set(key, [...(pairs.get(key) ?? []), combination]);
  }
  return [...pairs.values()].flatMap((choices, index) => choices[(index * 2) % choices.length] ?? []);
}

/** For a quick run: of the revisions in the middle, which differ from the next ones in little, one endpoint each. */
export function quickCombinations(): Combination[] {
  const middle = ["2025-03-26", "2025-06-18"];
  return someCombinations().filter(
    ({ client, endpoint }) => client.kind !== "wire" || !middle.includes(client.revision) || endpoint === "/mcp",
  );
}
