import type { UserMessage } from "../../agent/model/model-message.ts";
import type { CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ChatValues } from "./chat-options.ts";
import { readInput, readPiped } from "./piped-text.ts";

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
