import type { TurnResult } from "../../agent/loop/agent-options.ts";
import type { UserMessage } from "../../agent/model/model-message.ts";
import { costOf } from "../../agent/model/usage.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isSafePattern } from "../../host/directory/policy.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { joinFirst, shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import type { ChatState } from "./chat-state.ts";
import type { ServerProblem } from "./server-problems.ts";
import { EMPTY_ANSWER, TurnDisplay } from "./turn-display.ts";

const MAX_NAME = 100;

export interface OneAnswerOptions {
  out: Output;
  signal: AbortSignal;
  /** What programs are told about the servers. */
  problems: () => readonly ServerProblem[];
}

/** `nexus chat -p`: one turn. A failure is thrown after what was done is printed. */
export async function answerOnce(
  content: UserMessage["content"],
  state: ChatState,
  { out, signal, problems }: OneAnswerOptions,
): Promise<void> {
  const { screen, conversation } = state;
  const { model } = conversation;
  // A file or a program gets only the last answer; a person sees what the model says in between as well.
  const showsText = out.columns !== undefined && !out.json;
  const display = new TurnDisplay({ screen, model: () => model.name, showsText });
  if (!out.json) display.begin();
  const result = await conversation.send(content, { signal, onEvent: out.json ? undefined : display.onEvent });
  display.end();
  if (out.json) out.value(forPrograms(result, state, problems()));
  else {
    if (!showsText && result.text !== "") {
      screen.answer(result.text);
      screen.endAnswer();
    }
    const { id } = conversation;
    const goOn = id === undefined ? "" : ` To go on: nexus chat --resume ${id} -p "Go on."`;
    const note = endNote(result);
    if (note !== undefined) screen.note(`${note}${goOn}`, "yellow");
    if (!out.isInteractive) tellDenied(result, state);
  }
  if (result.stopReason === "cancelled") throw new NexusError("CANCELLED", "Interrupted");
  if (result.error) throw result.error;
}

/** What a person has to know about the end of a turn, besides its error. */
function endNote({ stopReason, text, steps, error, isTakenBack }: TurnResult): string | undefined {
  if (stopReason === "steps") return "Stopped: the limit of --max-steps is reached.";
  if (stopReason === "budget") return "Stopped: the limit of --budget is reached.";
  if (error) return steps.length > 0 && !isTakenBack ? "The calls above are done, and the chat is saved." : undefined;
  return stopReason === "end" && text === "" ? EMPTY_ANSWER : undefined;
}

/** A person who is not asked learns how to allow what was denied. */
function tellDenied({ steps }: TurnResult, { screen }: ChatState): void {
  const denied = steps.filter(({ outcome }) => outcome === "denied").map(({ server, tool }) => `${server}.${tool}`);
  const names = [...new Set(denied)];
  const options = names.filter(isSafePattern).map((name) => `--allow ${quoteWord(name)}`);
  if (options.length > 0) screen.note(`To allow what was denied: ${options.join(" ")}`, "yellow");
  // A name that a server chose must not become a pattern for more, or a line of its own.
  const others = names
    .filter((name) => !isSafePattern(name))
    .map((name) => JSON.stringify(shorten(visible(name), MAX_NAME)));
  if (others.length === 0) return;
  const text = `${joinFirst(others)} cannot be allowed with a pattern, because of the signs in the name. Run nexus chat at a terminal.`;
  screen.labelled("yellow", "Denied:", text);
}

function forPrograms(
  { text, steps, usage, stopReason }: TurnResult,
  { conversation }: ChatState,
  problems: readonly ServerProblem[],
) {
  const warnings = problems.map(({ server, error: { code, message, hint } }) => ({
    server,
    error: { code, message, ...(hint === undefined ? {} : { hint }) },
  }));
  return {
    text,
    steps: steps.map(({ server, tool, arguments: args, outcome, durationMs, message }) => ({
      server,
      tool,
      arguments: args,
      outcome,
      durationMs,
      ...(message === undefined ? {} : { message }),
    })),
    usage,
    cost: costOf(usage, conversation.model.prices) ?? null,
    session: conversation.id ?? null,
    stopReason,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}
