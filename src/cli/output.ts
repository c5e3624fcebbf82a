import type { NexusError } from "../errors/nexus-error.ts";
import { renderForPeople, renderForPrograms } from "../errors/render.ts";

/** Results: the only thing that ever goes to stdout. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Failures, for people or as one JSON object, on stderr. */
export function printError(error: NexusError, json: boolean): void {
  process.stderr.write(json ? `${JSON.stringify(renderForPrograms(error))}\n` : `nexus: ${renderForPeople(error)}\n`);
}
