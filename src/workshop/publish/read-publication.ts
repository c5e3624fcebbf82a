import { NexusError } from "../../errors/nexus-error.ts";
import { compileApi, type CompiledApi } from "../compile/compile.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { Approval } from "../review/lock.ts";

/** A tool file with its documents, and the approval of what it compiles to. */
export interface Publication {
  /** The tool file as it is written. */
  text: string;
  /** The texts of its documents by name. */
  documents: Readonly<Record<string, string>>;
  approval: Approval;
}

/**
 * Compiles what came from elsewhere: nothing is taken from it that was compiled by another program. Throws if it has
 * mistakes, or if the approval is about something else.
 */
export function compilePublication({ text, documents, approval }: Publication): CompiledApi {
  const { file, problems } = readToolFile(text, "the tool file");
  const { api, problems: more } = file ? compileApi(file, documents) : { api: undefined, problems: [] };
  const [mistake] = [...problems, ...more].filter(({ severity }) => severity === "error");
  if (!api || mistake) {
    throw refusal(
      `The tool file has mistakes: ${mistake?.path ?? ""}: ${mistake?.message ?? "it cannot be compiled"}`,
      `"nexus api check" shows all of them.`,
    );
  }
  if (api.hash !== approval.hash) {
    throw refusal(
      `The approval is about ${approval.hash}, but the tool file compiles to ${api.hash}`,
      "Approve this content with the same version of Nexus as the gateway, and send exactly what was approved.",
    );
  }
  return api;
}

function refusal(message: string, hint: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", message, { phase: "config", hint, mayHaveReached: false });
}
