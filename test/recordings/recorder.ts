import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { isRecord } from "../../src/json/is-record.ts";
import type { NexusWorld, Ran, RunOptions } from "../fixtures/nexus.ts";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));

/** What differs from run to run, and what stands for it. */
const DIFFERING: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/("publishedBy": ")(?!key )[^"]*/g, "$1<account>"],
  [/\b(?:sha256:)?[0-9a-f]{64}\b/g, "<hash>"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/\b[0-9a-f]{32}\b/g, "<id>"],
  [/\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, "$1:<port>"],
  [/("(?:\w+Ms|ms|callsPerSecond|pid|requestBytes|responseBytes)": )\d+(?:\.\d+)?/g, "$1<n>"],
  [/(--continue |"continue": ")\w+/g, "$1<call>"],
  [/\b\d+(?:\.\d+)? ms\b/g, "<n> ms"],
  [/\bv\d+\.\d+\.\d+\b/g, "<version>"],
];

/** Commands that were run in a world, and what they printed for programs. */
export class Recorder {
  readonly #world: NexusWorld;
  readonly #options: RunOptions & { always: readonly string[] };
  readonly #names = new Map<string, string>();
  #text = "";

  /** `always`: words after each command, which are not written down. */
  constructor(world: NexusWorld, options: RunOptions & { always?: readonly string[] } = {}) {
    this.#world = world;
    this.#options = { always: [], ...options };
  }

  /** Everything since the last call, with placeholders. */
  take(): string {
    const text = this.#withPlaceholders(this.#text);
    this.#text = "";
    return text;
  }

  /** The value is written as this. */
  name(value: string | undefined, placeholder: string): void {
    if (value !== undefined && value !== "") this.#names.set(value, placeholder);
  }

  /** Runs one command with --json; words with spaces are in single quotes. */
  async run(line: string, options: RunOptions = {}): Promise<Ran> {
    const words = [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
    const { always, ...usual } = this.#options;
    const [end, rest] = [words.indexOf("--"), ["--json", ...always]];
    const args = end === -1 ? [...words, ...rest] : [...words.slice(0, end), ...rest, ...words.slice(end)];
    const ran = await this.#world.run(args, { ...usual, ...options, env: { ...usual.env, ...options.env } });
    const shown = [`$ nexus ${line}`, `exit ${ran.code}`];
    if (ran.stdout !== "") shown.push(indented(ran.stdout, this.#world.root));
    if (ran.stderr !== "") shown.push("stderr:", indented(ran.stderr, this.#world.root));
    this.#text += `${shown.join("\n")}\n\n`;
    return ran;
  }

  /** The same, again until it prints this: another process has to notice a change. Only the last run is written down. */
  async runUntil(line: string, pattern: RegExp): Promise<void> {
    const before = this.#text;
    const printed = async () => {
      this.#text = before;
      return (await this.run(line)).stdout;
    };
    await expect.poll(printed).toMatch(pattern);
  }

  /** The same, and what it printed. */
  async read(line: string, options: RunOptions = {}): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.run(line, options);
    if (!stdout.startsWith("{")) throw new Error(`${line}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  #withPlaceholders(text: string): string {
    let replaced = text.replaceAll(/\bnxs_\w+/g, "<key>");
    for (const [value, placeholder] of this.#names) replaced = replaced.replaceAll(value, placeholder);
    replaced = replaced
      .replaceAll(this.#world.project, "<project>")
      .replaceAll(this.#world.home, "<home>")
      .replaceAll(this.#world.root, "<root>")
      .replaceAll(PACKAGE, "<package>/")
      .replaceAll(process.execPath, "<node>");
    replaced = replaced.replaceAll(/"ms": \{[^}]*\}/g, (times) => times.replaceAll(/: [\d.]+/g, ": <n>"));
    for (const [pattern, placeholder] of DIFFERING) replaced = replaced.replaceAll(pattern, placeholder);
    return replaced;
  }
}

/** Each line that is JSON is written over several lines, so that a difference shows where it is. */
function indented(text: string, root: string): string {
  const lines = text.trimEnd().split("\n");
  return lines.map((line) => pretty(line, root)).join("\n");
}

function pretty(line: string, root: string): string {
  if (!/^[{[]/.test(line)) return line;
  try {
    return JSON.stringify(
      JSON.parse(line, (name, value: unknown) => comparable(name, value, root)),
      undefined,
      1,
    );
  } catch {
    return line;
  }
}

function comparable(name: string, value: unknown, root: string): unknown {
  // Folders around the temporary one are searched as well; how many there are depends on the machine.
  if (Array.isArray(value)) return value.filter((each) => !isElsewhere(each, root));
  if (name !== "counts" || typeof value !== "object" || value === null) return value;
  // These members are in the order in which the answers came.
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isElsewhere(item: unknown, root: string): boolean {
  if (!isRecord(item) || typeof item["file"] !== "string" || !isAbsolute(item["file"])) return false;
  const { file } = item as { file: string };
  return !file.startsWith(root) && !file.startsWith(PACKAGE);
}
