import { Semaphore } from "../../async/semaphore.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { readApart, ReadingProblem, TOOL_FILE_LIMITS } from "../documents/apart/read-apart.ts";
import { compilePublication, publicationRefusal, type UncompiledPublication } from "./read-publication.ts";

/**
 * Compiles what is published in a thread of its own, one after the other: a large tool file takes seconds and hundreds of
 * megabytes, and callers of the same process wait for nothing meanwhile.
 */
export class PublicationCompiler {
  readonly #turns = new Semaphore(1);

  /** Ends when the signal is aborted. Throws ARGUMENTS_INVALID beyond the limits of time and memory. */
  async compile({ text, documents, hash }: UncompiledPublication, signal?: AbortSignal): Promise<CompiledApi> {
    const task = { kind: "publication", text, documents, hash } as const;
    await this.#turns.acquire(signal);
    try {
      const here = async () => compilePublication(task);
      return await readApart(task, here, { signal, limits: TOOL_FILE_LIMITS.publication });
    } catch (error) {
      if (!(error instanceof ReadingProblem)) throw error;
      throw publicationRefusal(`The tool file ${error.message}`, "Make two APIs of it, or leave tools and types out.");
    } finally {
      this.#turns.release();
    }
  }
}
