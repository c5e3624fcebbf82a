import type { TurnEvent } from "../../agent/loop/turn-event.ts";
import { elapsedText, waitText } from "../../text/duration.ts";
import { endedLines, runningLine, type ShownCall } from "./terminal/tool-line.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";

/** How long the model may be silent before the line shows that it is waited for. */
const PATIENCE_MS = 1_000;

export const EMPTY_ANSWER = "The model gave an empty answer.";

interface TurnDisplayOptions {
  screen: ChatScreen;
  /** `provider:model` */
  model: () => string;
  /** Whether texts are shown while they come. */
  showsText: boolean;
}

/** Shows a turn while it runs: the text, one line for each call, and what is waited for. */
export class TurnDisplay {
  readonly #options: TurnDisplayOptions;
  readonly #running = new Map<string, ShownCall>();
  #silentSince = performance.now();
  #waitsUntil: { at: number; reason: string } | undefined;

  constructor(options: TurnDisplayOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#running.clear();
    this.#waitsUntil = undefined;
    this.#silentSince = performance.now();
    this.#options.screen.status(() => this.#status());
  }

  end(): void {
    this.#options.screen.status(undefined);
    this.#options.screen.endAnswer();
  }

  readonly onEvent = (event: TurnEvent): void => {
    const { screen, showsText } = this.#options;
    if (event.type !== "wait") this.#waitsUntil = undefined;
    switch (event.type) {
      case "text":
        this.#silentSince = performance.now();
        if (showsText) screen.answer(event.text);
        break;
      case "reasoning":
        break;
      case "wait":
        this.#waitsUntil = { at: performance.now() + event.ms, reason: event.reason };
        screen.note(`waiting ${waitText(event.ms)}: ${event.reason}`, "yellow");
        break;
      case "notice":
        screen.note(event.text, "yellow");
        break;
      case "answer":
        screen.endAnswer();
        break;
      case "tool_start":
        this.#running.set(event.id, { ...event, startedAt: performance.now() });
        break;
      case "tool_progress":
        // Drawn with the next tick: a server may report thousands in a second.
        return this.#progress(event);
      case "tool_end":
        this.#ended(event);
        break;
    }
    screen.redraw();
  };

  #progress(event: Extract<TurnEvent, { type: "tool_progress" }>): void {
    const call = this.#running.get(event.id);
    if (call) this.#running.set(event.id, { ...call, progress: event });
  }

  #ended(event: Extract<TurnEvent, { type: "tool_end" }>): void {
    const { screen } = this.#options;
    this.#running.delete(event.id);
    this.#silentSince = performance.now();
    const style = event.step.outcome === "ok" ? "green" : "yellow";
    screen.labelled(style, "→", ...endedLines(event, screen.columns && screen.columns - 3));
  }

  #status(): string | undefined {
    const now = performance.now();
    const [first, ...others] = this.#running.values();
    if (first) {
      const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
      return `${runningLine(first, now, screenColumns(this.#options.screen) - more.length)}${more}`;
    }
    if (this.#waitsUntil) {
      const { at, reason } = this.#waitsUntil;
      return `waiting ${waitText(Math.max(0, at - now))}: ${reason}`;
    }
    const silentMs = now - this.#silentSince;
    return silentMs < PATIENCE_MS ? undefined : `waiting for ${this.#options.model()}, ${elapsedText(silentMs)}`;
  }
}

function screenColumns({ columns }: ChatScreen): number {
  return columns ?? 80;
}
