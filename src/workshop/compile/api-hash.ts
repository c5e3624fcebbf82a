import { sha256 } from "../../text/digest.ts";
import type { CompiledApi } from "./compile.ts";

/** The approved hash: of everything but itself. */
export function hashOf({ format, file, tools, citations }: Omit<CompiledApi, "hash">): string {
  return `sha256:${sha256(JSON.stringify({ format, file, tools, citations }))}`;
}
