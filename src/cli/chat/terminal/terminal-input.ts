import { emitKeypressEvents } from "node:readline";
import { NexusError } from "../../../errors/nexus-error.ts";
import { visible } from "../../../text/visible.ts";
import type { Output } from "../../output/output.ts";
import { filled } from "../../output/text-width.ts";
import { DrawnRows } from "./drawn-rows.ts";
import { viewOf } from "./editor-view.ts";
import { HistoryWalk, type InputHistory } from "./input-history.ts";
import { LineEditor, type PressedKey } from "./line-editor.ts";
import { setImmediate } from "node:timers/promises";

/** What a person did at the prompt. */
export type Entered = { kind: "line"; text: string } | { kind: "interrupt"; wasEmpty: boolean } | { kind: "end" };

/** Called at once for what was entered. False: the prompt is shown again, and no key in between is taken as typed ahead. */
type Accepts = (entered: Entered) => boolean;

/** The words that may complete the text before the cursor, and the length of the part that they replace. */
export interface Completions {
  words: readonly string[];
  length: number;
}

interface TerminalInputOptions {
  out: Output;
  history: InputHistory;
  complete: (before: string) => Completions;
  /** Ctrl-C while nothing is being typed. */
  onInterrupt: () => void;
}

interface Reading {
  prompt: string;
  editor: LineEditor;
  walk: HistoryWalk | undefined;
  settle: (entered: Entered) => void;
  /** Of a message. */
  accepts?: Accepts | undefined;
}

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const MAX_SHOWN = 40;
const WITHDRAWN = "(withdrawn)";

/**
 * The keyboard of a chat, from its beginning to its end. What is typed while nothing is asked waits for the next prompt,
 * where it can be edited; it never answers a question, and is not sent without another Enter.
 */
export class TerminalInput implements Disposable {
  readonly #options: TerminalInputOptions;
  #reading: Reading | undefined;
  /** A question is open. */
  #isAside = false;
  /** What is read when the question is answered. */
  #message: Reading | undefined;
  readonly #ahead = new TypedAhead();
  readonly #typing = new TypingPause();
  readonly #drawn: DrawnRows;
  #isDrawWaiting = false;
  #isLent = true;
  #isOver = false;
  /** What is shown when others no longer use the keyboard. */
  #later: (() => void)[] | undefined;

  constructor(options: TerminalInputOptions) {
    this.#options = options;
    this.#drawn = new DrawnRows(options.out);
  }

  /** Takes the keyboard. */
  start(): void {
    emitKeypressEvents(process.stdin);
    this.#options.out.people.on("resize", this.#onResize);
    this.#take();
  }

  /** Reads the next message. */
  read(prompt: string, accepts: Accepts): Promise<Entered> {
    const { editor, isEnd } = this.#ahead.take();
    if (isEnd) {
      this.#options.out.draw("\n");
      return Promise.resolve({ kind: "end" });
    }
    const walk = new HistoryWalk(this.#options.history.entries);
    return new Promise((settle) => {
      const message = { prompt, editor, walk, settle, accepts };
      // A question outside the turn that has just ended may be open.
      if (this.#isAside) this.#message = message;
      else this.#begin(message);
    });
  }

  /**
   * Runs questions when the person is not typing: not in the middle of a word, of a pasted text, or of a message, of which a
   * server would get the rest. The prompt is put aside meanwhile. Throws CANCELLED if the signal is aborted before.
   */
  async aside<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#isMessageBegun) {
      this.above(() => this.#options.out.note("A server asks something. Send or clear your line to see it."));
    }
    await this.#pause(signal);
    if (signal.aborted) throw unanswered();
    if (this.#reading) this.#drawn.erase();
    this.#message = this.#reading;
    this.#reading = undefined;
    this.#isAside = true;
    try {
      return await run();
    } finally {
      this.#isAside = false;
      if (this.#message && !this.#isOver) this.#begin(this.#message);
      this.#message = undefined;
    }
  }

  /** The same question, asked aside. */
  asked<Question, Reply>(
    ask: (question: Question, signal: AbortSignal) => Promise<Reply>,
  ): (question: Question, signal: AbortSignal) => Promise<Reply> {
    return (question, signal) => this.aside(() => ask(question, signal), signal);
  }

  /**
   * Reads the answer to a question: only what is typed after it was shown. `initial` is a text to edit. Throws CANCELLED
   * for Ctrl-C and Ctrl-D.
   */
  async ask(prompt: string, signal: AbortSignal, initial = ""): Promise<string> {
    await this.#pause(signal);
    if (signal.aborted) throw unanswered();
    const editor = new LineEditor();
    editor.replace(initial);
    const asking = new Promise<Entered>((settle) =>
      this.#begin({ prompt: visible(prompt), editor, walk: undefined, settle }),
    );
    const onAbort = () => this.#settle({ kind: "interrupt", wasEmpty: true }, WITHDRAWN);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const entered = await asking;
      if (entered.kind === "line") return entered.text;
      if (!signal.aborted) this.#options.onInterrupt();
      throw unanswered();
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Writes something above the line that is being typed. */
  above(write: () => void): void {
    if (this.#later) return void this.#later.push(write);
    if (!this.#reading) return write();
    this.#drawn.erase();
    write();
    this.#draw();
  }

  /** Leaves the keyboard to others, which read lines themselves. */
  async lend<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isLent) return run();
    this.#release();
    this.#later = [];
    try {
      return await run();
    } finally {
      this.#take();
      // What follows an answer in the same pasted text is typed as well.
      this.#typing.keyPressed();
      for (const write of this.#later) write();
      this.#later = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#release();
    this.#options.out.people.off("resize", this.#onResize);
    process.stdin.pause();
  }

  #begin(reading: Reading): void {
    this.#reading = reading;
    this.#drawn.begin();
    this.#draw();
  }

  #take(): void {
    // A question may end after the chat; the terminal must stay as it was left.
    if (this.#isOver) return;
    this.#isLent = false;
    process.stdin.on("keypress", this.#onKey);
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdin.resume();
    this.#options.out.draw(PASTE_ON);
  }

  #release(): void {
    if (this.#isLent) return;
    this.#isLent = true;
    this.#options.out.draw(PASTE_OFF);
    process.stdin.off("keypress", this.#onKey);
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
  }

  readonly #onResize = () => {
    if (!this.#reading) return;
    this.#drawn.eraseBelow();
    this.#draw();
  };

  readonly #onKey = (text: string | undefined, key: PressedKey | undefined) => {
    this.#typing.keyPressed();
    if (this.#reading) this.#press(this.#reading, text, key ?? {});
    else if (this.#ahead.press(text, key ?? {}) === "interrupt") this.#options.onInterrupt();
  };

  #press({ editor, walk }: Reading, text: string | undefined, key: PressedKey): void {
    const wasEmpty = editor.isEmpty;
    const event = editor.press(text, key);
    switch (event?.kind) {
      case "submit":
        return this.#submit(event.text);
      case "interrupt":
        return this.#settle({ kind: "interrupt", wasEmpty });
      case "end":
        return this.#settle({ kind: "end" });
      case "complete":
        if (walk) this.#complete(editor);
        break;
      case "older":
        replace(editor, walk?.older(editor.text));
        break;
      case "newer":
        replace(editor, walk?.newer());
        break;
      case "clear":
        this.#drawn.clearScreen();
        break;
      case "refused":
        this.above(() => this.#options.out.note("The pasted text is too long, so it was not taken."));
        break;
      case undefined:
        break;
    }
    if (!editor.isPasting) this.#drawSoon();
  }

  /** Once for all the keys that arrived together. */
  #drawSoon(): void {
    if (this.#isDrawWaiting) return;
    this.#isDrawWaiting = true;
    queueMicrotask(() => {
      if (this.#isDrawWaiting) this.#draw();
    });
  }

  #pause(signal: AbortSignal): Promise<void> {
    const isBusy = () => this.#ahead.isPasting || this.#reading?.editor.isPasting === true || this.#isMessageBegun;
    return this.#typing.wait(isBusy, signal);
  }

  get #isMessageBegun(): boolean {
    return this.#reading?.accepts !== undefined && !this.#reading.editor.isEmpty;
  }

  #submit(text: string): void {
    const { editor } = this.#reading ?? {};
    // The text stays on the screen as it was.
    editor?.replace(text);
    this.#typing.lineEnded();
    this.#settle({ kind: "line", text });
  }

  #settle(entered: Entered, mark = entered.kind === "interrupt" ? "^C" : ""): void {
    const reading = this.#reading;
    if (!reading) return;
    this.#draw(true);
    this.#options.out.draw(`${mark}\n`);
    this.#reading = undefined;
    if (reading.accepts?.(entered) ?? true) return reading.settle(entered);
    const walk = new HistoryWalk(this.#options.history.entries);
    this.#begin({ ...reading, editor: new LineEditor(), walk });
  }

  #complete(editor: LineEditor): void {
    const { words, length } = this.#options.complete(editor.textBefore);
    const [only] = words;
    if (only === undefined) return;
    const shared = words.reduce(sharedStart);
    const typed = editor.textBefore.slice(editor.textBefore.length - length);
    if (shared.length > typed.length) {
      editor.replaceBefore(length, words.length === 1 ? `${shared} ` : shared);
    } else if (words.length > 1) this.#show(words);
    else editor.insert(" ");
  }

  /** Above the prompt, which is drawn again below. */
  #show(words: readonly string[]): void {
    const { out } = this.#options;
    const shown = words.slice(0, MAX_SHOWN).map(visible);
    const more = words.length > MAX_SHOWN ? [`and ${words.length - MAX_SHOWN} more`] : [];
    this.#draw(true);
    out.draw("\n");
    for (const line of filled([...shown, ...more], "  ", this.#columns)) out.note(out.onStderr("dim", line));
    this.#drawn.begin();
  }

  get #columns(): number {
    return Math.max(this.#options.out.people.columns, 20);
  }

  /** `isLast`: with the cursor at the end, so that other output can follow. */
  #draw(isLast = false): void {
    const reading = this.#reading;
    if (!reading) return;
    const { prompt, editor } = reading;
    this.#isDrawWaiting = false;
    if (isLast) editor.moveToEnd();
    this.#drawn.draw(viewOf(editor, { prompt, columns: this.#columns, rows: this.#options.out.people.rows }));
  }
}

function replace(editor: LineEditor, text: string | undefined): void {
  if (text !== undefined) editor.replace(text);
}

function sharedStart(one: string, other: string): string {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  return one.slice(0, same);
}

function unanswered(): NexusError {
  return new NexusError("CANCELLED", "The question was not answered");
}

/** What is typed while nothing is read. It waits for the next prompt, where it can be edited, and answers no question. */
class TypedAhead {
  #editor = new LineEditor();
  /** Ctrl-D in an empty line. */
  #isEnd = false;

  get isPasting(): boolean {
    return this.#editor.isPasting;
  }

  /** Returns `interrupt` for Ctrl-C, which keeps what was typed. */
  press(text: string | undefined, key: PressedKey): "interrupt" | undefined {
    const isEnter = key.name === "return" || key.name === "enter";
    if (isEnter && !this.isPasting) {
      this.#editor.insert("\n");
      return undefined;
    }
    const event = this.#editor.press(text, key);
    if (event?.kind === "end") this.#isEnd = true;
    if (event?.kind !== "interrupt") return undefined;
    this.#isEnd = false;
    return "interrupt";
  }

  /** What was typed, without empty lines around it; begins again. */
  take(): { editor: LineEditor; isEnd: boolean } {
    const editor = this.#editor;
    const isEnd = this.#isEnd && editor.isEmpty;
    this.#editor = new LineEditor();
    this.#isEnd = false;
    if (!editor.isEmpty) editor.replace(editor.text.replaceAll(/^\n+|\n+$/g, ""));
    return { editor, isEnd };
  }
}

/** A person who has typed nothing for so long has seen what is on the screen. */
const PAUSE_MS = 700;

/** Knows when the last key was pressed, so that no question comes in the middle of a word or of a pasted text. */
class TypingPause {
  #lastKeyAt = -Infinity;
  #onKey = () => {};

  keyPressed(): void {
    this.#lastKeyAt = performance.now();
    this.#onKey();
  }

  /** What was typed was an answer that is complete: the next question need not wait. */
  lineEnded(): void {
    this.#lastKeyAt = -Infinity;
    this.#onKey();
  }

  /** Waits until no key was pressed for a while and `isBusy` is false after a key; or until the signal is aborted. */
  async wait(isBusy: () => boolean, signal?: AbortSignal): Promise<void> {
    // Keys that were typed before are in the buffer of the terminal, and are read first.
    await setImmediate();
    for (;;) {
      const leftMs = isBusy() ? Infinity : this.#lastKeyAt + PAUSE_MS - performance.now();
      if (leftMs <= 0 || signal?.aborted) return;
      await this.#nextKey(leftMs, signal);
    }
  }

  async #nextKey(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    await new Promise<void>((resolve) => {
      this.#onKey = onAbort = resolve;
      if (withinMs !== Infinity) timer = setTimeout(resolve, withinMs);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
