import { shownJson } from "../../agent/consent/shown-json.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { visible } from "../../text/visible.ts";
import type { CommandContext } from "../command/command.ts";
import { askFor } from "../output/terminal-questions.ts";

interface MeantCall {
  server: string;
  tool: Tool;
  args: unknown;
  /** How often it is called; undefined: once. */
  times: number | undefined;
}

/**
 * Asks a user at the terminal before a destructive tool is called. Without a terminal the caller is a script, which named
 * the tool. Only "y" or "yes" is a yes.
 */
export async function isCallWanted(
  { server, tool, args, times = 1 }: MeantCall,
  { out, signal }: Pick<CommandContext, "out" | "signal">,
): Promise<boolean> {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (destructiveHint !== true || readOnlyHint === true) return true;
  out.talkAtTerminal();
  if (!out.isInteractive) return true;
  const name = out.onStderr("bold", visible(tool.name));
  out.note(`The tool ${name} of server ${visible(server)} is destructive: it may delete or overwrite data.`);
  const { text } = shownJson(args);
  if (text !== "{}") out.note(text);
  const question = times === 1 ? "Call it? y/N" : `Call it ${times} times? y/N`;
  const answer = await askFor(out, { text: question, signal });
  return /^y(?:es)?$/i.test(answer.trim());
}
