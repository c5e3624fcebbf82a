import { join } from "node:path";
import { NexusError } from "../../errors/nexus-error.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";

/** What a decision is about. If any part of it changes, the person is asked again. */
export interface DecisionSubject {
  server: string;
  /** The name at its server. */
  tool: string;
  /** Identity of the server's entry. */
  entry: string;
  /** Hash of the tool's definition. */
  definition: string;
}

/** A tool that a person has allowed always. */
export interface RememberedDecision extends DecisionSubject {
  /** In ISO 8601. */
  decidedAt: string;
}

const MAX_DECISIONS = 1_000;
const MAX_NAME = 1_000;

/**
 * The tools that a person has allowed always, in a file that only its owner can read or write. The file is read for every
 * decision, so that one that was withdrawn in another process no longer counts here.
 */
export class RememberedDecisions {
  readonly #file: string;
  readonly #platform: NodeJS.Platform;

  constructor({ folder, platform }: { folder: string; platform: NodeJS.Platform }) {
    this.#file = join(folder, "consent.json");
    this.#platform = platform;
  }

  /** Throws if the file is damaged, or if others can change it. */
  async has(subject: DecisionSubject): Promise<boolean> {
    return (await this.list()).some((known) => isSamePlace(known, subject) && known.definition === subject.definition);
  }

  /** Forgets the oldest decisions if there are too many. */
  async remember(subject: DecisionSubject): Promise<void> {
    const { server, tool, entry, definition } = subject;
    if (tool.length > MAX_NAME) throw tooLong(subject);
    await this.#change((known) => [
      ...known.filter((other) => !isSamePlace(other, subject)),
      { server, tool, entry, definition, decidedAt: new Date().toISOString() },
    ]);
  }

  /** Forgets the decisions that `isMeant` selects; returns them. */
  async forget(isMeant: (decision: RememberedDecision) => boolean): Promise<RememberedDecision[]> {
    if (!(await this.list()).some(isMeant)) return [];
    let forgotten: RememberedDecision[] = [];
    await this.#change((known) => {
      forgotten = known.filter(isMeant);
      return known.filter((decision) => !isMeant(decision));
    });
    return forgotten;
  }

  /** The oldest first. Throws if the file is damaged, or if others can change it. */
  async list(): Promise<RememberedDecision[]> {
    const bytes = await readOwnerOnly(this.#file, this.#platform);
    if (!bytes) return [];
    try {
      const content: unknown = JSON.parse(bytes.toString("utf8"));
      const decisions = isRecord(content) ? content["decisions"] : undefined;
      if (Array.isArray(decisions) && decisions.every(isDecision)) return decisions;
    } catch (cause) {
      throw damaged(this.#file, cause);
    }
    throw damaged(this.#file);
  }

  /** Another process may change it at the same time; what was forgotten there must not return here. */
  async #change(change: (known: RememberedDecision[]) => RememberedDecision[]): Promise<void> {
    const { withLock } = await import("../../files/file-lock.ts");
    await withLock(this.#file, async ({ check }) => {
      const decisions = change(await this.list()).slice(-MAX_DECISIONS);
      await writeOwnerOnly(this.#file, `${JSON.stringify({ decisions }, undefined, 2)}\n`, check);
    });
  }
}

/** The same tool of the same server: a new decision about it replaces the old one. */
function isSamePlace(one: DecisionSubject, other: DecisionSubject): boolean {
  return one.server === other.server && one.tool === other.tool && one.entry === other.entry;
}

function isDecision(value: unknown): value is RememberedDecision {
  if (!isRecord(value)) return false;
  return ["server", "tool", "entry", "definition", "decidedAt"].every((key) => typeof value[key] === "string");
}

function damaged(file: string, cause?: unknown): NexusError {
  return new NexusError("DATA_DAMAGED", "The remembered decisions about tools cannot be read", {
    phase: "config",
    source: { file },
    hint: "Restore the file from a backup, or delete it: then Nexus asks again before each tool.",
    cause,
    mayHaveReached: false,
  });
}

function tooLong({ server, tool }: DecisionSubject): NexusError {
  const message = `The name of a tool of server "${server}" has ${tool.length} characters; at most ${MAX_NAME} are remembered`;
  return new NexusError("ARGUMENTS_INVALID", message, { server, mayHaveReached: false });
}
