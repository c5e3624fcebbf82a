import { NexusError } from "../../errors/nexus-error.ts";
import type { CompiledApi, CompileProblem } from "../compile/compile.ts";
import { checkerFor } from "./checker.ts";

/** Examples are for copying, so one that the tool refuses is reported. */
export function refusedExamples(api: CompiledApi): CompileProblem[] {
  return Object.entries(api.file.tools).flatMap(([name, { examples }]) => {
    const check = examples.length === 0 ? undefined : checkerOf(api, name);
    return examples.flatMap((example, index): CompileProblem[] => {
      const [first] = check?.(example.arguments).problems ?? [];
      if (first === undefined) return [];
      const path = `tools.${name}.examples.${index}.arguments`;
      const message = `the tool itself refuses this call, so it is not offered: ${first}`;
      return [{ path, message, severity: "warning" }];
    });
  });
}

/** Undefined if the file has errors, which are already reported. */
function checkerOf({ file }: CompiledApi, name: string): ReturnType<typeof checkerFor> | undefined {
  try {
    return checkerFor(file, name);
  } catch (error) {
    if (error instanceof NexusError) return undefined;
    throw error;
  }
}
