import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { lastWords } from "../../errors/last-words.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import { exitCodeOf } from "../output/exit-codes.ts";
import { mapConcurrently } from "../../async/map-concurrently.ts";
import type { Output } from "../output/output.ts";
import type { ServerSet } from "./server-set.ts";

/** The results of asking several servers. */
export interface ServerAnswers<T> {
  /** In the order of the configuration. */
  answers: { server: string; value: T }[];
  failures: NexusError[];
}

interface ServerQuestion<T> {
  /** Also receives how long connecting took. */
  ask: (client: Client, definition: ServerDefinition, connectMs: number) => Promise<T>;
  /** Receives the answers in the order of the configuration, each as soon as it is known. */
  onAnswer?: (server: string, value: T) => void;
  signal: AbortSignal;
}

/** Maximum number of servers at the same time: a hundred would need more memory than most machines have. */
export const SERVERS_AT_ONCE = 8;

/**
 * Asks the servers, a few at a time, and closes each connection after its answer. A failure affects only its server.
 */
export async function askServers<T>(
  servers: ServerSet,
  definitions: readonly ServerDefinition[],
  { ask, onAnswer, signal }: ServerQuestion<T>,
): Promise<ServerAnswers<T>> {
  const askOne = async (definition: ServerDefinition): Promise<{ server: string; value: T } | NexusError> => {
    const server = definition.id;
    try {
      const startedAt = performance.now();
      const client = await servers.connect(definition, { signal });
      try {
        return { server, value: await ask(client, definition, performance.now() - startedAt) };
      } finally {
        await servers.disconnect(client);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      return asNexusError(error).with({ server, source: definition.origin });
    }
  };
  const onResult = (result: Awaited<ReturnType<typeof askOne>>) => {
    if ("value" in result) onAnswer?.(result.server, result.value);
  };
  const results = await mapConcurrently(definitions, askOne, { limit: SERVERS_AT_ONCE, onResult });
  const answers: ServerAnswers<T>["answers"] = [];
  const failures: NexusError[] = [];
  for (const result of results) {
    if ("value" in result) answers.push(result);
    else failures.push(result);
  }
  return { answers, failures };
}

/** 0 if all answered, the common exit code if all failed alike, otherwise 4. */
export function exitCodeFor(answered: number, failures: readonly NexusError[]): number {
  const codes = new Set(failures.map(exitCodeOf));
  const [only] = codes;
  if (only === undefined) return 0;
  return codes.size === 1 && (answered === 0 || failures.length === 0) ? only : 4;
}

/** Reports a single failure in full, unless there are other results; several failures in one line each. */
export function reportFailures(out: Output, failures: readonly NexusError[], { inBrief = false } = {}): void {
  const [first] = failures;
  if (out.json || !first) return;
  if (failures.length === 1 && !inBrief) return out.error(first);
  for (const { message, details } of failures) {
    // The server's last output is often already part of the message.
    const cause = [details.likelyCause, lastWords(details.stderr ?? []), details.answer, details.hint].find(
      (text) => text !== undefined && !message.includes(text),
    );
    const about = details.server ?? details.source?.file ?? "";
    const name = message.includes(`"${about}"`) ? "" : `${about}: `;
    const code = details.rpc ? ` (${details.rpc.code})` : "";
    const line = `${name}${message}${code}${cause === undefined ? "" : ` – ${cause}`}`;
    out.note(`${out.onStderr("red", "nexus:")} ${visible(line)}`);
  }
  out.note(`"nexus mcp doctor SERVER" shows the details.`);
}

/** Failures for the `errors` of JSON output. */
export function failuresForPrograms(failures: readonly NexusError[]): unknown[] {
  return failures.map((failure) => renderForPrograms(failure).error);
}
