import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { NexusError } from "../../errors/nexus-error.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "./output.ts";

interface TerminalQuestion {
  text: string;
  /** Whether the typed text is hidden. */
  hidden?: boolean | undefined;
  /** The value of an empty answer. */
  fallback?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Characters of it that are shown. */
const MAX_FALLBACK = 500;

/** Asks the user at the terminal for one line. Ctrl-D and Ctrl-C throw CANCELLED. */
export async function askFor(out: Output, { text, hidden, fallback, signal }: TerminalQuestion): Promise<string> {
  const prompt = `${visible(text)}${fallback === undefined ? "" : ` [${visible(shorten(fallback, MAX_FALLBACK))}]`}: `;
  // Reading begins before the prompt is shown, because the terminal hides typed text only from then on.
  const reading = readLine(hidden ? undefined : { prompt, output: out.people }, signal);
  if (hidden) out.draw(prompt);
  // End the line of the question, also if there was no answer.
  const answer = await reading.catch((error: unknown) => {
    out.draw("\n");
    throw error;
  });
  if (hidden) out.draw("\n");
  return answer === "" ? (fallback ?? "") : answer;
}

/** What is shown while a line is typed. */
interface ShownLine {
  prompt: string;
  output: Writable;
}

/** Without something shown, typed text is not shown either. */
async function readLine(shown: ShownLine | undefined, signal: AbortSignal | undefined): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { prompt, output } = shown ?? { prompt: "", output: silent };
  const reader = createInterface({ input: process.stdin, output, terminal: true, prompt });
  const lines: string[] = [];
  let begun = "";
  let onAbort = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const cancelled = () => reject(new NexusError("CANCELLED", "The question was not answered"));
      reader.on("line", (line) => {
        lines.push(line);
        resolve();
      });
      reader.once("close", cancelled);
      // In raw mode Ctrl-C is a key; the program raises the signal itself, which Windows cannot send.
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
    begun = reader.line;
    reader.close();
  }
  const [answer = "", ...pasted] = lines;
  // Several pasted lines answer several questions, and the beginning of a line is not lost.
  const rest = pasted.map((line) => `${line}\n`).join("") + begun;
  if (rest !== "") process.stdin.unshift(rest);
  return answer;
}
