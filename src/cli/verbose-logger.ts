import type { Logger } from "../client/logger.ts";
import { visible } from "../errors/visible.ts";
import type { Output } from "./output.ts";

/** Tells people everything, beside the result. */
export function verboseLogger(out: Output): Logger {
  const write = (message: string) => out.note(out.onStderr("dim", visible(message)));
  return { debug: write, info: write, warn: write, error: write };
}
