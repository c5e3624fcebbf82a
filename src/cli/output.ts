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

/** Whoever reads the output may stop reading (`| head -1`), and that is no fault; a full disk is. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`nexus: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  process.stderr.on("error", () => {});
}
