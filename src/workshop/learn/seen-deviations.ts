import { join } from "node:path";
import { writeAtomicSync } from "../../files/atomic-write.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { isDeeperThan } from "../../json/nesting.ts";
import { MASK } from "../../masking/mask-words.ts";
import { visible } from "../../text/visible.ts";
import { looksSecret } from "../../masking/find-secrets.ts";

/** A way in which answers of a tool differ from its file. Values are not kept, except short codes and numbers that are no credentials. */
export interface SeenDeviation {
  tool: string;
  /** As in a result, without the numbers of items: `rooms[].adults`. */
  path: string;
  problem: string;
  /** The kinds of values that came: `text`, `number`, `null`, `list` and so on. */
  kinds: string[];
  /** Codes and numbers that came. */
  values: string[];
  count: number;
  /** When it was seen first and last, ISO 8601. */
  first: string;
  last: string;
}

/** What was seen in answers of one server. */
export interface SeenDeviations {
  nexus: 1;
  api: string;
  server: string;
  seen: SeenDeviation[];
}

/** A deviation as its caller gets it: with secrets masked. */
type ToldDeviation = Readonly<Record<string, string>>;

const MAX_BYTES = 1024 * 1024;
const MOST = 300;
const MOST_VALUES = 8;
const MAX_VALUE = 40;
const MAX_PATH = 300;
const MAX_PROBLEM = 500;

export function deviationsFolder(stateFolder: string): string {
  return join(stateFolder, "deviations");
}

/** Undefined if there is none, or none that can be read. */
export function readSeen(file: string): SeenDeviations | undefined {
  const text = findRegularText(file, MAX_BYTES);
  if (text === undefined || isDeeperThan(text, 10)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isOurs = isRecord(value) && value["nexus"] === 1 && Array.isArray(value["seen"]);
    return isOurs ? (value as unknown as SeenDeviations) : undefined;
  } catch {
    return undefined;
  }
}

/** Collects how answers differ from the tool file, for the person who keeps the file. One for each server of a process. */
export class DeviationLog {
  readonly #file: string;
  readonly #of: Pick<SeenDeviations, "api" | "server">;
  readonly #new = new Map<string, SeenDeviation>();
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string, of: Pick<SeenDeviations, "api" | "server">) {
    this.#file = file;
    this.#of = of;
  }

  note(tool: string, deviations: readonly ToldDeviation[]): void {
    const at = new Date().toISOString();
    for (const told of deviations) {
      // Names of members come from upstream: what no tool file has is nothing to learn.
      const { path = "" } = told;
      if (path.length > MAX_PATH || visible(path) !== path || isSecret(path)) continue;
      const seen = seenOf(tool, told, at);
      if (this.#new.size < MOST || this.#new.has(keyOf(seen))) add(this.#new, seen);
    }
    this.#timer ??= setTimeout(() => this.flush(), WRITE_MS).unref();
  }

  /** Writes what was seen since the last time; at once, because the program may be about to end. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#new.size === 0) return;
    const all = new Map((readSeen(this.#file)?.seen ?? []).map((each) => [keyOf(each), each]));
    for (const each of this.#new.values()) add(all, each);
    this.#new.clear();
    const seen = [...all.values()].toSorted((a, b) => (a.last < b.last ? 1 : -1)).slice(0, MOST);
    try {
      writeSeen(this.#file, { nexus: 1, ...this.#of, seen });
    } catch {
      // It must not disturb calls; what deviates will be seen again.
    }
  }
}

const WRITE_MS = 1_000;

export function writeSeen(file: string, seen: SeenDeviations): void {
  writeAtomicSync(file, `${JSON.stringify(seen, null, 1)}\n`);
}

function seenOf(tool: string, { path = "", problem = "", received }: ToldDeviation, at: string): SeenDeviation {
  const kind = received === undefined ? [] : [kindOf(received)];
  const isShort = received !== undefined && received.length <= MAX_VALUE && !/\s/.test(received);
  const isShown = isShort && visible(received) === received && !isSecret(received);
  const isValue = isShown && /^expected (?:one of|at least -?\d|at most -?\d)(?!.* characters)/.test(problem);
  return {
    tool,
    path: path.replace(/^page \d+: /, "").replaceAll(/\[\d+\]/g, "[]"),
    problem: visible(problem).slice(0, MAX_PROBLEM),
    kinds: kind,
    values: isValue ? [received] : [],
    count: 1,
    first: at,
    last: at,
  };
}

/** Whether a text has something in it that was masked, or that is a token by its looks: it must not get into a file. */
function isSecret(text: string): boolean {
  return text.includes(MASK) || text.split(/[./[\]]/).some((part) => looksSecret(part)) || looksSecret(text);
}

/** Of a received value as text. */
function kindOf(text: string): string {
  const start = text.trimStart();
  if (start.startsWith("{")) return "object";
  if (start.startsWith("[")) return "list";
  if (start === "null") return "null";
  if (/^(?:true|false)$/.test(start)) return "boolean";
  if (/^-?(?:0|[1-9]\d*)$/.test(start)) return "whole number";
  return /^-?\d+\.\d+$/.test(start) ? "number" : "text";
}

function keyOf({ tool, path, problem }: SeenDeviation): string {
  return JSON.stringify([tool, path, problem]);
}

function add(all: Map<string, SeenDeviation>, more: SeenDeviation): void {
  const key = keyOf(more);
  const known = all.get(key);
  if (!known) {
    if (all.size < MOST * 2) all.set(key, more);
    return;
  }
  all.set(key, {
    ...known,
    kinds: [...new Set([...known.kinds, ...more.kinds])],
    values: [...new Set([...known.values, ...more.values])].slice(0, MOST_VALUES),
    count: known.count + more.count,
    last: more.last > known.last ? more.last : known.last,
  });
}
