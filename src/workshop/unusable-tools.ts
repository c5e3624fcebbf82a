import { NexusError } from "../errors/nexus-error.ts";
import type { CompiledApi, CompileProblem } from "./compile/compile.ts";
import { requestTools } from "./file/model/request-tools.ts";
import { CompletedValues } from "./run/completed-values.ts";
import { requestWriter } from "./run/request-writer.ts";
import { responseReader } from "./run/response-reader.ts";

/**
 * Tools whose requests or answers cannot be written as their types say, which is otherwise found at the first call:
 * several types may claim the same place upstream.
 */
export function unusableTools({ file }: CompiledApi): CompileProblem[] {
  const values = new CompletedValues(file, "output");
  const known = new Set<string>();
  const found = new Map<string, CompileProblem>();
  for (const [name, spec] of requestTools(file)) {
    const { as, type, headers } = spec.response;
    const answer = JSON.stringify([as, type, headers]);
    const prepare = () => {
      requestWriter(file, name, spec);
      // Many tools have the same answer.
      if (!known.has(answer)) responseReader(file, spec, values);
      known.add(answer);
    };
    const message = problemOf(prepare);
    if (message !== undefined) found.set(message, problemAt(`tools.${name}`, message));
  }
  return [...found.values()];
}

function problemOf(prepare: () => void): string | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    if (error instanceof NexusError) return error.message;
    throw error;
  }
}

/** Messages about a field begin with its place. */
function problemAt(tool: string, text: string): CompileProblem {
  const [whole, path = tool] = /^(types\.\S+\.fields\.\S+): /.exec(text) ?? [""];
  return { path, message: text.slice(whole.length), severity: "error" };
}
