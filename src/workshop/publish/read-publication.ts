import { NexusError } from "../../errors/nexus-error.ts";
import { tryCompileApproved, type CompiledApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";

/** A tool file as it is written, its documents by name, and the approved hash. */
export interface UncompiledPublication {
  text: string;
  documents: Readonly<Record<string, string>>;
  hash: string;
}

/**
 * Compiles what came from elsewhere: nothing is taken from it that was compiled by another program. Throws if it has
 * mistakes, or if the approval is about something else.
 */
export function compilePublication({ text, documents, hash }: UncompiledPublication): CompiledApi {
  const { file, problems } = readToolFile(text, "the tool file");
  const { api, problems: more } = file
    ? tryCompileApproved(file, documents, { hash })
    : { api: undefined, problems: [] };
  const [mistake] = [...problems, ...more].filter(({ severity }) => severity === "error");
  if (!api || mistake) {
    throw publicationRefusal(
      `The tool file has mistakes: ${mistake?.path ?? ""}: ${mistake?.message ?? "it cannot be compiled"}`,
      `"nexus api check" shows all of them.`,
    );
  }
  if (api.hash !== hash) {
    throw publicationRefusal(
      `The approval is about ${hash}, but the tool file compiles to ${api.hash}`,
      "Approve this content with the same version of Nexus as the gateway, and send exactly what was approved.",
    );
  }
  return api;
}

export function publicationRefusal(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}
