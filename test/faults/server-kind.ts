import type { Era, ServerEntry } from "../../src/index.ts";
import { isModernRevision } from "../../src/protocol/revisions.ts";
import type { HttpFixtureOptions } from "../fixtures/servers/http-fixture.ts";

/** A way of serving MCP over HTTP, and how a client is told to reach it. */
export interface ServerKind {
  name: string;
  fixture: HttpFixtureOptions;
  revision: string;
  era: Era;
  entry: (origin: string) => ServerEntry;
  /** Whether the revision lets a server ask the user. */
  asks: boolean;
  /** Whether the conversation is over with its one stream. */
  oneStream: boolean;
}

const atMcp = (origin: string): ServerEntry => ({ url: `${origin}/mcp` });
const atSse = (origin: string): ServerEntry => ({ url: `${origin}/sse`, type: "sse" });

export const SERVER_KINDS: readonly ServerKind[] = [
  kind("modern, JSON", { revision: "2026-07-28", answers: "json" }),
  kind("modern, events", { revision: "2026-07-28", answers: "sse" }),
  kind("legacy, JSON", { revision: "2025-11-25", answers: "json" }),
  kind("legacy, events", { revision: "2025-11-25", answers: "sse" }),
  kind("HTTP+SSE", { revision: "2024-11-05" }, { entry: atSse, asks: false, oneStream: true }),
];

function kind(
  name: string,
  fixture: HttpFixtureOptions & { revision: string },
  { entry = atMcp, asks = true, oneStream = false }: Partial<ServerKind> = {},
): ServerKind {
  const { revision } = fixture;
  return { name, fixture, revision, era: isModernRevision(revision) ? "modern" : "legacy", entry, asks, oneStream };
}

export function getServerKind(name: string): ServerKind {
  const found = SERVER_KINDS.find((each) => each.name === name);
  if (!found) throw new Error(`There is no kind of server called "${name}"`);
  return found;
}
