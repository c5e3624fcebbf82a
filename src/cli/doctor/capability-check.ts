import type { Client } from "../../client/client.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { changeOf, LIST_KINDS, type ListKind } from "../../protocol/list-kinds.ts";
import type { ServerCapabilities } from "../../protocol/mcp.ts";
import { LIST_METHODS } from "../../protocol/methods.ts";
import { FindingDraft, type Finding } from "./check.ts";

/** The answer to an undeclared list is not important, so the wait is short. */
const CURIOSITY_MS = 3_000;

/** What the server declares, and whether it answers what it does not declare. Declared lists are checked by `lists`. */
export async function capabilityFinding(client: Client, signal: AbortSignal): Promise<Finding> {
  const declared = client.serverCapabilities;
  const draft = new FindingDraft().add("ok", `declares ${described(declared ?? {})}`);
  for (const kind of LIST_KINDS) {
    const [method, capability] = [LIST_METHODS[kind], changeOf(kind)];
    if (!declared || declared[capability]) continue;
    const answer = await answersAnyway(client, kind, signal);
    if (client.lost) {
      return draft
        .add("warning", `exited after ${method}, which it does not declare: ${client.lost.message}`)
        .finding();
    }
    if (answer) {
      draft.add(
        "note",
        `answers ${method} but does not declare "${capability}"`,
        `The server's author should declare "${capability}". Clients do not use it until then.`,
      );
    }
  }
  return draft.finding();
}

async function answersAnyway(client: Client, kind: ListKind, signal: AbortSignal): Promise<boolean> {
  try {
    const result = await client.request(LIST_METHODS[kind], undefined, { signal, timeoutMs: CURIOSITY_MS });
    const items = result[kind];
    return Array.isArray(items) && items.length > 0;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof NexusError) return false;
    throw new NexusError("INTERNAL", messageOf(error), { cause: error });
  }
}

/** "tools (list changes), resources (subscribe), logging" */
function described(capabilities: ServerCapabilities): string {
  const parts = Object.entries(capabilities).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const details = typeof value === "object" ? detailsOf(name, value) : [];
    return [details.length === 0 ? name : `${name} (${details.join(", ")})`];
  });
  return parts.length === 0 ? "nothing" : parts.join(", ");
}

function detailsOf(name: string, value: object): string[] {
  if (name === "extensions" || name === "experimental") return Object.keys(value);
  const names: Record<string, string> = { listChanged: "list changes", subscribe: "subscribe" };
  return Object.entries(value).flatMap(([key, on]) => (on === true ? (names[key] ?? key) : []));
}
