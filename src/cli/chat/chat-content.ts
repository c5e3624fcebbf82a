import type { UserMessage } from "../../agent/model/model-message.ts";
import type { CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ChatValues } from "./chat-options.ts";
import { fstatSync } from "node:fs";
import { NexusError } from "../../errors/nexus-error.ts";

/** What is answered once; undefined if a person is at the terminal. */
export async function chatContent({
  options,
  out,
  signal,
}: CommandContext<ChatValues>): Promise<UserMessage["content"] | undefined> {
  const { prompt } = options;
  if (prompt === undefined) out.talkAtTerminal();
  if (prompt === undefined && out.isInteractive) return undefined;
  if (prompt === undefined && process.stdin.isTTY) {
    throw wrongUsage(
      `"nexus chat" needs a message`,
      `Use -p "TEXT". Without --json it talks with you at the terminal.`,
    );
  }
  const isPiped = prompt === undefined || prompt === "-";
  const text = isPiped ? await readInput(signal) : prompt;
  if (text.trim() === "") {
    throw wrongUsage("The message is empty", `Use -p "TEXT", or pipe the text: echo "TEXT" | nexus chat`);
  }
  const more = isPiped || process.stdin.isTTY ? undefined : await readPiped(signal);
  const added = more === undefined || more.trim() === "" ? [] : [`Text from standard input:\n\n${more}`];
  return [text, ...added].map((part) => ({ type: "text", text: part }));
}

/** How long a pipe may be silent before a prompt on the command line is sent without it. */
const SILENCE_MS = 3_000;
const MAX_BYTES = 10_000_000;

/** All of standard input. Throws CANCELLED if the signal is aborted. */
function readInput(signal: AbortSignal): Promise<string> {
  return read(undefined, signal).then((text) => text ?? "");
}

/**
 * What is piped to a command that has its prompt on the command line: `cat log | nexus chat -p "What failed?"`. Only a pipe of a
 * shell or a file counts: a program that starts others leaves their input open without an end. Undefined if nothing
 * comes.
 */
async function readPiped(signal: AbortSignal): Promise<string | undefined> {
  return isPiped() ? read(SILENCE_MS, signal) : undefined;
}

function isPiped(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile();
  } catch {
    // There is no standard input.
    return false;
  }
}

/** Undefined if nothing comes within the time. */
function read(silenceMs: number | undefined, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { stdin } = process;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      stdin.off("data", onData).off("end", onEnd).off("error", onError);
      stdin.pause();
      // A pipe without an end would keep the program running.
      stdin.destroy();
      settle();
    };
    const timer = silenceMs === undefined ? undefined : setTimeout(() => finish(() => resolve(undefined)), silenceMs);
    const onData = (chunk: Buffer) => {
      clearTimeout(timer);
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        finish(() => reject(wrongUsage(`Standard input has more than ${MAX_BYTES} bytes`, "Send a part of it.")));
      }
    };
    const onEnd = () => finish(() => resolve(Buffer.concat(chunks).toString("utf8")));
    const onError = (error: Error) => finish(() => reject(error));
    const onAbort = () => finish(() => reject(new NexusError("CANCELLED", "Interrupted")));
    signal.addEventListener("abort", onAbort, { once: true });
    stdin.on("data", onData).on("end", onEnd).on("error", onError);
    if (signal.aborted) onAbort();
  });
}
