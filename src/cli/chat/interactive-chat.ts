import type { UserMessage } from "../../agent/model/model-message.ts";
import type { StopReason } from "../../agent/loop/turn-event.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { slashCommands } from "./chat-commands.ts";
import { CHAT_AGENT, type ChatState } from "./chat-state.ts";
import { completeSlash, isSlashCommand, findSlashCommand } from "./slash-command.ts";
import type { InputHistory } from "./terminal/input-history.ts";
import type { Completions, Entered, TerminalInput } from "./terminal/terminal-input.ts";
import { EMPTY_ANSWER, TurnDisplay } from "./turn-display.ts";
import { requireUsedServer } from "./server-names.ts";

interface InteractiveOptions {
  out: Output;
  input: TerminalInput;
  history: InputHistory;
  /** The program ends. */
  signal: AbortSignal;
}

const INTERRUPTED = 130;
const LIMITS: Partial<Record<StopReason, string>> = { steps: "--max-steps", budget: "--budget" };
const PROMPT = "> ";
/** Ctrl-C twice within this time ends the program, whatever runs. */
const TWICE_MS = 2_000;

/** The conversation at a terminal, until the person ends it. */
export class InteractiveChat {
  readonly #state: ChatState;
  readonly #options: InteractiveOptions;
  readonly #display: TurnDisplay;
  /** Of the turn or command that runs. */
  #running: AbortController | undefined;
  #isEnding = false;
  /** When Ctrl-C stopped something, by `performance.now()`. */
  #interruptedAt = -Infinity;
  /** Whether the last thing at the prompt was Ctrl-C in an empty line. */
  #wasInterrupted = false;
  /** Aborted when the chat ends while nothing runs. */
  readonly #stopped = new AbortController();

  constructor(state: ChatState, options: InteractiveOptions) {
    this.#state = state;
    this.#options = options;
    const { screen, conversation } = state;
    this.#display = new TurnDisplay({ screen, model: () => conversation.model.name, showsText: true });
  }

  /** Ctrl-C: stops what runs; the second one ends the program. */
  interrupt(): void {
    const isSecond = this.#isTwice() || this.#running?.signal.aborted === true;
    this.#interruptedAt = performance.now();
    if (isSecond) this.#end();
    this.#running?.abort();
  }

  /** A signal instead of the key: also ends a chat that waits for a message. */
  stop(): void {
    if (this.#running) return this.interrupt();
    this.#end();
  }

  complete(before: string): Completions {
    return completeSlash(before, slashCommands(this.#state), this.#state);
  }

  /** Returns the exit code. */
  async run(): Promise<number> {
    const { input, signal, history } = this.#options;
    const ended = untilEnd(AbortSignal.any([signal, this.#stopped.signal]));
    while (!signal.aborted && !this.#isEnding) {
      const entered = await Promise.race([input.read(PROMPT, (what) => this.#accepts(what)), ended]);
      if (entered.kind === "end") break;
      if (entered.kind === "interrupt") return INTERRUPTED;
      await history.add(entered.text);
      if ((await this.#handle(entered.text)) === "exit") return 0;
    }
    return this.#isEnding ? INTERRUPTED : 0;
  }

  /** An empty line is not a message, and Ctrl-C at the prompt ends the chat only when it is pressed twice. */
  #accepts(entered: Entered): boolean {
    if (entered.kind === "end") return true;
    if (entered.kind === "line") {
      this.#wasInterrupted = false;
      this.#interruptedAt = -Infinity;
      return entered.text.trim() !== "";
    }
    if (entered.wasEmpty && (this.#wasInterrupted || this.#isTwice())) return true;
    this.#wasInterrupted = entered.wasEmpty;
    if (entered.wasEmpty) this.#state.screen.note("Press Ctrl-C again, or Ctrl-D, to end the chat.", "dim");
    return false;
  }

  async #handle(text: string): Promise<"exit" | undefined> {
    const line = text.trim();
    if (!isSlashCommand(line)) {
      await this.#send([{ type: "text", text }], line);
      return undefined;
    }
    try {
      const outcome = await this.#interruptible(async (signal) => {
        const { command, words } = findChatCommand(line, this.#state);
        return unlessAborted(Promise.resolve(command.run(words, this.#state, signal)), signal);
      });
      if (outcome?.kind === "exit") return "exit";
      if (outcome?.kind === "send") await this.#send(outcome.parts, line);
    } catch (error) {
      this.#tell(asNexusError(error));
    }
    return undefined;
  }

  /** `said`: the line that the person typed. */
  async #send(content: UserMessage["content"], said: string): Promise<void> {
    const { conversation, attached, screen } = this.#state;
    this.#state.attached = [];
    const result = await this.#interruptible((signal) => {
      this.#display.begin();
      return conversation.send([...attached, ...content], { said, signal, onEvent: this.#display.onEvent });
    });
    this.#display.end();
    if (result.error) this.#tell(withModelHint(result.error));
    else if (result.stopReason === "cancelled") screen.note("stopped", "yellow");
    else if (result.stopReason === "end") {
      if (result.text === "") screen.note(EMPTY_ANSWER, "yellow");
    } else
      screen.note(
        `stopped: the limit of ${LIMITS[result.stopReason]} is reached. Write "go on" to continue.`,
        "yellow",
      );
    if (!result.isTakenBack) return;
    this.#state.attached = attached;
    screen.note("Your message got no answer and is not part of the chat. Arrow-up shows it again.", "dim");
  }

  async #interruptible<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await run(AbortSignal.any([running.signal, this.#options.signal]));
    } finally {
      this.#running = undefined;
    }
  }

  #isTwice(): boolean {
    return performance.now() - this.#interruptedAt < TWICE_MS;
  }

  #end(): void {
    this.#isEnding = true;
    this.#stopped.abort();
  }

  #tell(error: NexusError): void {
    this.#state.screen.endAnswer();
    if (error.code === "CANCELLED") this.#state.screen.note("stopped", "yellow");
    else this.#options.out.error(error);
  }
}

/** In a turn only the model can be unknown. */
function withModelHint(error: NexusError): NexusError {
  if (error.code !== "NAME_UNKNOWN") return error;
  return error.amended({ hint: "/model lists the models, /model provider:model changes it." });
}

/** The first lines: model, servers, tools. */
export function greet({ screen, conversation, servers: { host } }: ChatState): void {
  const servers = host.directory.visibleTo(CHAT_AGENT);
  const ready = servers.filter(({ id }) => host.find(id)?.state.kind === "ready").length;
  const tools = host.tools({ agent: CHAT_AGENT }).length;
  const counts = `${pluralize(ready, "server")}, ${pluralize(tools, "tool")}`;
  screen.labelled("bold", "nexus chat", `with ${conversation.model.name}: ${counts}`);
  const { length } = conversation.messages;
  if (length > 0) screen.note(`continues chat ${conversation.id ?? ""} with ${pluralize(length, "message")}`, "dim");
  screen.note("/help lists the commands, Ctrl-D ends the chat", "dim");
}

function untilEnd(signal: AbortSignal): Promise<{ kind: "end" }> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ kind: "end" }), { once: true });
  });
}

/** The command that a line names. Throws for a prompt of a server that is not used now, and for unknown commands. */
function findChatCommand(line: string, state: ChatState): ReturnType<typeof findSlashCommand> {
  try {
    return findSlashCommand(line, slashCommands(state));
  } catch (error) {
    requireUsedServer(state, line.slice(1));
    throw error;
  }
}
