import type { StepOutcome, TurnEvent, TurnStep } from "../../../agent/loop/turn-event.ts";
import { isRecord } from "../../../json/is-record.ts";
import { sizeText } from "../../../text/byte-size.ts";
import { durationText, elapsedText } from "../../../text/duration.ts";
import { shorten } from "../../../text/shorten.ts";
import { visible } from "../../../text/visible.ts";
import { cellsOf, cut } from "../../output/text-width.ts";

const MAX_VALUE = 60;
/** Arguments are shown up to here, where lines are not limited. */
const MAX_ARGUMENTS = 160;
/** Columns that arguments get, however long the rest is. */
const MIN_ARGUMENTS = 10;
/** Columns that the name gets, however long the rest is. */
const MIN_NAME = 8;
const MAX_REASON_ROWS = 3;

const OUTCOMES: Record<StepOutcome, string> = {
  ok: "ok",
  tool_error: "the tool reported an error",
  error: "failed",
  denied: "denied",
  cancelled: "cancelled",
};

/** What is known of a call that runs. */
export interface ShownCall {
  server: string;
  tool: string;
  arguments: unknown;
  startedAt: number;
  progress?: Extract<TurnEvent, { type: "tool_progress" }> | undefined;
}

type EndedCall = Extract<TurnEvent, { type: "tool_end" }>;

/**
 * One line about a call that ended: `files.read path=a.txt: ok, 85 ms, 1.2 kB`. A reason that does not fit beside it is a
 * second text.
 */
export function endedLines({ step, bytes, isShortened, error }: EndedCall, columns: number | undefined): string[] {
  const size = bytes > 0 ? [sizeText(bytes)] : [];
  const isShort = isShortened ? ["shortened for the model"] : [];
  // The texts about denied and cancelled calls are for the model.
  const isTold = error !== undefined && (step.outcome === "error" || step.outcome === "tool_error");
  const time = step.outcome === "denied" ? [] : [durationText(step.durationMs)];
  const line = (reason: string) =>
    callLine(step, `: ${[`${OUTCOMES[step.outcome]}${reason}`, ...time, ...size, ...isShort].join(", ")}`, columns);
  if (!isTold) return [line("")];
  const reason = visible(error);
  const whole = line(` (${reason})`);
  if (columns === undefined || (whole.startsWith(nameOf(step)) && whole.includes(`(${reason})`))) return [whole];
  return [line(""), cut(reason, columns * MAX_REASON_ROWS)];
}

/** One line about a call that runs: `files.read path=a.txt: 40% reading, 2.4 s`. */
export function runningLine(call: ShownCall, now: number, columns: number): string {
  const { progress, startedAt } = call;
  const facts = [...(progress ? [progressWords(progress)] : []), elapsedText(now - startedAt)];
  return callLine(call, `: ${facts.join(", ")}`, columns);
}

/** `path=notes.txt depth=2`: short values as they are, others as JSON that is cut. */
export function shownArguments(args: unknown): string {
  if (!isRecord(args)) return args === undefined ? "" : shownValue(args);
  return Object.entries(args)
    .map(([name, value]) => `${visible(name)}=${shownValue(value)}`)
    .join(" ");
}

function nameOf({ server, tool }: Pick<TurnStep, "server" | "tool">): string {
  return visible(server === "" ? tool : `${server}.${tool}`);
}

function callLine(
  call: Pick<TurnStep, "server" | "tool" | "arguments">,
  facts: string,
  columns: number | undefined,
): string {
  const name = nameOf(call);
  const room = columns === undefined ? MAX_ARGUMENTS : columns - 1 - cellsOf(name) - cellsOf(facts) - 1;
  const shown = cut(shownArguments(call.arguments), Math.max(room, MIN_ARGUMENTS));
  const about = `${name}${shown === "" ? "" : ` ${shown}`}`;
  if (columns === undefined) return about + facts;
  // How it ended is worth more than the whole name.
  const left = columns - 1 - cellsOf(facts);
  return cut(cut(about, Math.max(left, MIN_NAME)) + facts, columns - 1);
}

function shownValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const isPlain = typeof value === "string" && /^[^\s"'=]+$/.test(value);
  return visible(shorten(isPlain || typeof value !== "string" ? text : JSON.stringify(value), MAX_VALUE));
}

function progressWords({ progress, total, message }: NonNullable<ShownCall["progress"]>): string {
  const share =
    total !== undefined && total > 0 ? `${Math.floor(Math.min(Math.max(progress / total, 0), 1) * 100)}%` : "";
  const words = [share, message === undefined ? "" : visible(message)].filter((word) => word !== "");
  return words.length === 0 ? `progress ${progress}` : words.join(" ");
}
