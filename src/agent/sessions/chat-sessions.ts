import { randomInt } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { withLock } from "../../files/file-lock.ts";
import { readOwnerOnly, unreadable, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { nearestName } from "../../text/nearest-name.ts";
import type { SavedSession } from "./saved-session.ts";
import type { ModelMessage, ToolResultPart, UserMessage } from "../model/model-message.ts";
import type { Usage } from "../model/model-provider.ts";
import { isNestedDeeper } from "../../json/nesting.ts";

/** Raised when what is written can no longer be read by older versions. */
const SESSION_VERSION = 1;
/** What the messages of each role consist of. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "media"],
  assistant: ["text", "reasoning", "tool_call"],
  tool: ["tool_result"],
};

interface ChatSessionsOptions {
  folder: string;
  platform: NodeJS.Platform;
  /** Sessions that are kept; the oldest are removed. Default: 200. */
  maxSessions?: number | undefined;
  /** Characters of the messages of one session. Default: 16 million. */
  maxLength?: number | undefined;
}

/** Called for each saved conversation that cannot be read, with the reason. */
type OnUnreadable = (error: NexusError) => void;

const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const ID = /^[a-z0-9]{4,16}$/;
const ENDING = ".json";

/** Saved conversations, each in a file that only its owner can read. */
export class ChatSessions {
  readonly #options: ChatSessionsOptions;

  constructor(options: ChatSessionsOptions) {
    this.#options = options;
  }

  static newId(): string {
    return Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  }

  /**
   * Replaces what was saved of this session at `previous`. If another chat has continued the session since then, nothing of
   * it is replaced: this one gets an id of its own. Returns the id.
   */
  async save(session: SavedSession, previous?: number): Promise<string> {
    const { maxLength = 16_000_000 } = this.#options;
    const messages = boundedMessages(session.messages, maxLength);
    const id = await withLock(this.#file(session.id), async ({ check }) => {
      const saved = await this.get(session.id).catch(() => undefined);
      const ownId = saved && saved.updatedAt !== previous ? ChatSessions.newId() : session.id;
      const text = JSON.stringify({ version: SESSION_VERSION, ...session, id: ownId, messages });
      await writeOwnerOnly(this.#file(ownId), text, check);
      return ownId;
    });
    await this.#removeOldest();
    return id;
  }

  async get(id: string): Promise<SavedSession> {
    const data = ID.test(id) ? await readOwnerOnly(this.#file(id), this.#options.platform) : undefined;
    if (data) return this.#read(id, data);
    const known = (await this.#ids()).map((each) => each.id);
    const near = nearestName(id, known);
    throw new NexusError("NAME_UNKNOWN", `There is no saved chat "${id}"`, {
      hint: `${near === undefined ? "" : `Did you mean "${near}"? `}"nexus chat --list" lists them.`,
      mayHaveReached: false,
    });
  }

  /** The one that was used last and can be read; if none can, throws why the newest cannot. */
  async getNewest(onUnreadable?: OnUnreadable): Promise<SavedSession> {
    const unreadable: NexusError[] = [];
    for await (const session of this.#readable((error) => unreadable.push(error))) {
      for (const error of unreadable) onUnreadable?.(error);
      return session;
    }
    if (unreadable[0]) throw unreadable[0];
    throw new NexusError("NAME_UNKNOWN", "There is no saved chat", {
      hint: `Start one: nexus chat`,
      mayHaveReached: false,
    });
  }

  /** The newest first, without those that cannot be read. */
  async list(onUnreadable?: OnUnreadable): Promise<SavedSession[]> {
    const sessions: SavedSession[] = [];
    for await (const session of this.#readable(onUnreadable)) sessions.push(session);
    return sessions;
  }

  async *#readable(onUnreadable: OnUnreadable | undefined): AsyncGenerator<SavedSession> {
    for (const { id } of await this.#ids()) {
      const session = await this.get(id).catch((error: unknown) => {
        const failure = asNexusError(error);
        // Another chat may have removed it since.
        if (failure.code !== "NAME_UNKNOWN") onUnreadable?.(failure);
      });
      if (session) yield session;
    }
  }

  #read(id: string, data: Buffer): SavedSession {
    const value = parseJson(data.toString("utf8"));
    const version = isRecord(value) ? value["version"] : undefined;
    const source = { file: this.#file(id) };
    if (typeof version === "number" && version > SESSION_VERSION) {
      throw new NexusError("CONFIG_INVALID", `The saved chat "${id}" was written by a newer version of Nexus`, {
        source,
        hint: "Update Nexus, or resume another chat.",
        mayHaveReached: false,
      });
    }
    const session = readSession(value);
    if (session) return { ...session, id };
    throw new NexusError("DATA_DAMAGED", `The saved chat "${id}" is damaged`, {
      source,
      hint: `Remove the file, or resume another chat: "nexus chat --list" lists them.`,
      mayHaveReached: false,
    });
  }

  /** The newest first. */
  async #ids(): Promise<{ id: string; at: number }[]> {
    const names = await readdir(this.#options.folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw unreadable(this.#options.folder, error);
    });
    const ids = names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
    const found = await Promise.all(
      ids
        .filter((id) => ID.test(id))
        .map(async (id) => {
          const { mtimeMs } = await stat(this.#file(id)).catch(() => ({ mtimeMs: 0 }));
          return { id, at: mtimeMs };
        }),
    );
    return found.sort((a, b) => b.at - a.at || a.id.localeCompare(b.id));
  }

  async #removeOldest(): Promise<void> {
    const { maxSessions = 200 } = this.#options;
    for (const { id } of (await this.#ids()).slice(maxSessions)) await rm(this.#file(id), { force: true });
  }

  #file(id: string): string {
    return join(this.#options.folder, `${id}${ENDING}`);
  }
}

type Media = UserMessage["content"][number];

/** The messages in at most this many characters of JSON: first without images and files, then without the oldest turns. */
function boundedMessages(messages: readonly ModelMessage[], maxLength: number): readonly ModelMessage[] {
  if (sum(messages.map(lengthOf)) <= maxLength) return messages;
  const small = messages.map(withoutMedia);
  const lengths = small.map(lengthOf);
  let left = sum(lengths);
  // A conversation begins with a person; a result without its call would be refused by providers.
  const start = small.findIndex(({ role }, at) => {
    if (at > 0) left -= lengths[at - 1] ?? 0;
    return role === "user" && left <= maxLength;
  });
  return start === -1 ? [] : small.slice(start);
}

/** With the comma behind it. */
function lengthOf(message: ModelMessage): number {
  return JSON.stringify(message).length + 1;
}

function sum(lengths: readonly number[]): number {
  return lengths.reduce((total, length) => total + length, 1);
}

function withoutMedia(message: ModelMessage): ModelMessage {
  switch (message.role) {
    case "user":
      return { ...message, content: message.content.map(named) };
    case "tool":
      return { ...message, content: message.content.map(resultWithoutMedia) };
    case "assistant":
      return message;
  }
}

function resultWithoutMedia(result: ToolResultPart): ToolResultPart {
  return { ...result, content: result.content.map(named) };
}

function named(part: Media): Media {
  return part.type === "media" ? { type: "text", text: `[${part.mediaType}, not saved]` } : part;
}

/** The session in a parsed file; undefined if it is none. */
function readSession(value: unknown): SavedSession | undefined {
  if (!isRecord(value)) return undefined;
  const { id, title, model, createdAt, updatedAt, messages, usage, cost } = value;
  const isNamed = typeof id === "string" && typeof title === "string" && typeof model === "string";
  const isTimed = typeof createdAt === "number" && typeof updatedAt === "number";
  if (!isNamed || !isTimed || !isUsage(usage) || !Array.isArray(messages) || !messages.every(isMessage))
    return undefined;
  return {
    id,
    title,
    model,
    createdAt,
    updatedAt,
    messages,
    usage,
    ...(typeof cost === "number" ? { cost } : {}),
  };
}

function isUsage(value: unknown): value is Usage {
  return isRecord(value) && typeof value["inputTokens"] === "number" && typeof value["outputTokens"] === "number";
}

function isMessage(value: unknown): value is ModelMessage {
  if (!isRecord(value) || isNestedDeeper(value)) return false;
  const { role, content } = value;
  const kinds = typeof role === "string" && Object.hasOwn(PARTS, role) ? PARTS[role] : undefined;
  return kinds !== undefined && Array.isArray(content) && content.every((part) => isPart(part, kinds));
}

function isPart(value: unknown, kinds: readonly string[]): boolean {
  if (!isRecord(value) || !kinds.includes(String(value["type"]))) return false;
  switch (value["type"]) {
    case "text":
    case "reasoning":
      return typeof value["text"] === "string";
    case "media":
      return typeof value["data"] === "string" && typeof value["mediaType"] === "string";
    case "tool_call":
      return isCall(value);
    default:
      return (
        isCall(value) &&
        Array.isArray(value["content"]) &&
        value["content"].every((part) => isPart(part, ["text", "media"]))
      );
  }
}

function isCall(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value["id"] === "string" && typeof value["name"] === "string";
}
