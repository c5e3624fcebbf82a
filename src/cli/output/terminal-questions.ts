import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "./output.ts";

export interface TerminalQuestion {
  text: string;
  /** What is typed is not shown. */
  hidden?: boolean | undefined;
  /** What an empty answer means. */
  fallback?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Asks the person at the terminal for one line. Ctrl-D and Ctrl-C throw CANCELLED. */
export async function askFor(out: Output, { text, hidden, fallback, signal }: TerminalQuestion): Promise<string> {
  const prompt = `${visible(text)}${fallback === undefined ? "" : ` [${visible(fallback)}]`}: `;
  // The terminal stops showing what is typed as soon as it is read from: before anybody is invited to type.
  const reading = readLine(hidden ? undefined : prompt, signal);
  if (hidden) out.draw(prompt);
  // The line that was asked on is over, also where nothing was answered: what comes next begins a new one.
  const answer = await reading.catch((error: unknown) => {
    out.draw("\n");
    throw error;
  });
  if (hidden) out.draw("\n");
  return answer === "" ? (fallback ?? "") : answer;
}

/** Without a prompt nothing is shown, not even what is typed. */
async function readLine(prompt: string | undefined, signal: AbortSignal | undefined): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = prompt === undefined ? silent : process.stderr;
  const reader = createInterface({ input: process.stdin, output, terminal: true, prompt: prompt ?? "" });
  const lines: string[] = [];
  let onAbort = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const cancelled = () => reject(new NexusError("CANCELLED", "The question was not answered"));
      reader.on("line", (line) => {
        lines.push(line);
        resolve();
      });
      reader.once("close", cancelled);
      // In raw mode Ctrl-C is a key; the program treats it as the signal it stands for, which Windows cannot send.
      reader.once("SIGINT", () => {
        if (!process.emit("SIGINT", "SIGINT")) process.kill(process.pid, "SIGINT");
        cancelled();
      });
      onAbort = cancelled;
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted) cancelled();
      reader.prompt();
    });
  } finally {
    signal?.removeEventListener("abort", onAbort);
    reader.close();
  }
  const [answer = "", ...pasted] = lines;
  // Several lines pasted at once answer several questions.
  if (pasted.length > 0) process.stdin.unshift(pasted.map((line) => `${line}\n`).join(""));
  return answer;
}
