import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { text } from "node:stream/consumers";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { CreateMessageRequest, CreateMessageResult } from "../../protocol/mcp.ts";
import { liveChildren, signalTree, type ProcessSystem } from "../../process/process-tree.ts";
import { waitText } from "../../text/duration.ts";
import { splitWords, wrongUsage } from "../command/command-line.ts";

/** A program that replaces the user's model: the request as JSON on stdin, the answer on stdout. */
export class SamplingProgram {
  readonly #command: string;
  readonly #args: readonly string[];
  readonly #system: ProcessSystem;
  readonly #timeoutMs: number | undefined;

  /** `timeoutMs` limits each answer; undefined: a model may take as long as it needs. */
  constructor(line: string, system: ProcessSystem, timeoutMs?: number) {
    const [command, ...args] = splitWords(line);
    if (command === undefined) throw wrongUsage("--sample-with needs a program", `Use --sample-with "node model.js".`);
    this.#command = command;
    this.#args = args;
    this.#system = system;
    this.#timeoutMs = timeoutMs;
  }

  /** Any exit code but 0 is a refusal, with its stderr as the reason. */
  async answer({ params }: CreateMessageRequest, signal: AbortSignal): Promise<CreateMessageResult> {
    // Its own process group, so that its children end with it; Windows has no groups.
    const detached = this.#system.platform !== "win32";
    const env = { ...this.#system.variables };
    const options = { env, stdio: ["pipe", "pipe", "pipe"] as "pipe"[], detached, windowsHide: true };
    const start = detached ? spawn : (await import("../../process/spawn-on-windows.ts")).spawnOnWindows;
    const child = start(this.#command, [...this.#args], options) as ChildProcessWithoutNullStreams;
    const { pid } = child;
    const end = () => pid !== undefined && signalTree(pid, "SIGKILL", this.#system);
    if (pid !== undefined) liveChildren.add(pid, this.#system);
    let isLate = false;
    const onLate = () => {
      isLate = true;
      end();
    };
    const timer = this.#timeoutMs === undefined ? undefined : setTimeout(onLate, this.#timeoutMs);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      const ended = new Promise<number | null>((resolve, reject) => {
        child.once("error", reject).once("close", resolve);
      });
      // The program may answer without reading its stdin.
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(params));
      const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
      if (isLate) throw this.#late();
      if (code === 0) return this.#result(stdout);
      throw this.#refusal(`exited with code ${code ?? "unknown"}${stderr.trim() === "" ? "" : `: ${stderr.trim()}`}`);
    } catch (error) {
      if (signal.aborted) throw new NexusError("CANCELLED", "The sampling request was cancelled", { cause: error });
      throw error instanceof NexusError ? error : this.#refusal(`could not be run: ${(error as Error).message}`, error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (pid !== undefined) liveChildren.remove(pid);
    }
  }

  #result(stdout: string): CreateMessageResult {
    const named = { role: "assistant", model: this.#command } as const;
    try {
      const value: unknown = JSON.parse(stdout);
      if (isRecord(value) && value["content"] !== undefined) {
        return { ...named, ...value } as unknown as CreateMessageResult;
      }
    } catch {
      // Plain text is also an answer.
    }
    return { ...named, content: { type: "text", text: stdout.replace(/\r?\n$/, "") }, stopReason: "endTurn" };
  }

  #late(): NexusError {
    const time = waitText(this.#timeoutMs ?? 0);
    return new NexusError("TIMEOUT", `The program of --sample-with did not answer within ${time}`, {
      hint: "Use a larger --timeout if the program needs more time.",
    });
  }

  #refusal(what: string, cause?: unknown): NexusError {
    return new NexusError("INPUT_FAILED", `The program of --sample-with ${what}`, {
      cause,
      hint: "The program must read the request's params as JSON from stdin and write text or a CreateMessageResult to stdout.",
    });
  }
}
