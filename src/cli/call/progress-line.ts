import { elapsedText } from "../../text/duration.ts";
import { visible } from "../../text/visible.ts";
import type { Progress } from "../../protocol/mcp.ts";
import type { Output } from "../output/output.ts";
import { cut } from "../output/text-width.ts";

const REDRAW_MS = 200;
/** How long a call may be silent before the line shows that it is running. */
const PATIENCE_MS = 1_000;
/** The minimum time between two lines where nothing can be overwritten. */
const LINE_MS = 100;
const BAR = 20;

/**
 * The progress of a call: one line that is overwritten on a terminal, plain lines elsewhere. It is removed at the end.
 */
export class ProgressLine implements Disposable {
  readonly #out: Output;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #latest: Progress | undefined;
  #drawn = false;
  #hidden = 0;
  #linedAt = -Infinity;
  #pending: string | undefined;
  #last = "";

  constructor(out: Output) {
    this.#out = out;
    if (out.showsProgress) this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  readonly report = (progress: Progress): void => {
    this.#latest = progress;
    if (this.#timer) this.#draw();
    else this.#writeLine(progress);
  };

  /** Runs with the line cleared, for other output to the terminal. */
  async aside<T>(run: () => Promise<T> | T): Promise<T> {
    this.#hidden += 1;
    this.#erase();
    try {
      return await run();
    } finally {
      this.#hidden -= 1;
    }
  }

  /** Writes a line above the progress. */
  note(text: string): void {
    this.#erase();
    this.#out.note(text);
    if (this.#timer) this.#draw();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#erase();
    if (this.#pending !== undefined) this.#out.note(this.#pending);
    this.#pending = undefined;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (this.#hidden > 0 || (!this.#latest && elapsedMs < PATIENCE_MS)) return;
    const text = progressText(this.#latest, { elapsedMs, columns: process.stderr.columns });
    this.#out.draw(`\r\u001b[2K${text}`);
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#out.draw("\r\u001b[2K");
    this.#drawn = false;
  }

  /** The first and last lines are always written; those in between only if they are not too fast. */
  #writeLine(progress: Progress): void {
    const text = progressFacts(progress);
    if (text === this.#last) return;
    this.#last = text;
    const now = performance.now();
    const line = `${text} (${elapsedText(now - this.#startedAt)})`;
    if (now - this.#linedAt < LINE_MS) {
      this.#pending = line;
      return;
    }
    this.#linedAt = now;
    this.#pending = undefined;
    this.#out.note(line);
  }
}

/** One line that fits: the bar is dropped first, then the message is cut; percentage and time stay. */
export function progressText(
  progress: Progress | undefined,
  { elapsedMs, columns }: { elapsedMs: number; columns: number },
): string {
  const time = elapsedText(elapsedMs);
  const share = shareOf(progress);
  const count = progress ? (share === undefined ? String(progress.progress) : percent(share)) : "waiting";
  const room = Math.max(columns - 1, 10);
  const fixed = count.length + 2 + time.length;
  const message = visible(progress?.message ?? "");
  const bar = share === undefined || room - fixed < BAR + 12 ? "" : `${drawnBar(share)} `;
  const left = room - fixed - bar.length - 2;
  const shown = left < 4 ? "" : cut(message, left);
  return `${bar}${count}${shown === "" ? "" : `  ${shown}`}  ${time}`;
}

function progressFacts(progress: Progress): string {
  const share = shareOf(progress);
  const count = share === undefined ? `progress ${progress.progress}` : percent(share);
  return progress.message === undefined ? count : `${count} ${visible(progress.message)}`;
}

function shareOf(progress: Progress | undefined): number | undefined {
  const total = progress?.total;
  if (!progress || typeof total !== "number" || !(total > 0)) return undefined;
  return Math.min(Math.max(progress.progress / total, 0), 1);
}

function percent(share: number): string {
  return `${Math.floor(share * 100)}%`.padStart(4);
}

function drawnBar(share: number): string {
  const full = Math.round(share * BAR);
  return `[${"#".repeat(full)}${"-".repeat(BAR - full)}]`;
}
