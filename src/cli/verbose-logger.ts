import type { Logger } from "../client/logger.ts";
import { visible } from "../errors/visible.ts";
import type { Output } from "./output.ts";

/** Tells people everything, beside the result. */
export function verboseLogger(out: Output): Logger {
  const write = (message: string, data: Record<string, unknown> = {}) => {
    // Data of a call with an id are without secrets; what others come with may be the words of a server.
    const about = "correlationId" in data ? ` ${JSON.stringify(data)}` : "";
    out.note(out.onStderr("dim", visible(`${message}${about}`)));
  };
  return { debug: write, info: write, warn: write, error: write };
}
