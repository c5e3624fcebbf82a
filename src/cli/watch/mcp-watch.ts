import { NexusError, asNexusError } from "../../errors/nexus-error.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { allowedTools, requireAllowed } from "../command/entry-rules.ts";
import { visible } from "../../text/visible.ts";
import type { ResourceContents, Tool } from "../../protocol/mcp.ts";
import { sizeText } from "../../text/byte-size.ts";
import type { Output } from "../output/output.ts";
import { cut } from "../output/text-width.ts";
import type { Client } from "../../client/client.ts";
import type { Change } from "../../client/changes/feed.ts";
import type { Subscription } from "../../client/changes/subscriptions.ts";
import { CHANGING_LISTS, type ChangingList } from "../../protocol/list-kinds.ts";

/** nexus mcp watch docs file:///notes.txt */
export const watch = defineCommand({
  usage: "nexus mcp watch <server> [uri]… [--read] [--count N]",
  description: `Shows changes of the server's lists of tools, prompts and resources, and updates of the named resources, one per line,
until Ctrl-C or the end of the connection. With --json, one object per line.`,
  words: { min: 0, max: 100 },
  options: {
    ...IN_PLACE,
    ...TENANT,
    read: { type: "boolean", help: "read updated resources and show their first lines" },
    count: { type: "string", value: "N", help: "stop after N changes" },
  },
  examples: [
    ["nexus mcp watch github", "watch the lists of tools, prompts and resources"],
    ["nexus mcp watch docs file:///notes.txt --read", "watch a resource and show its first lines"],
    ["nexus mcp watch docs --count 1 && make", "wait for one change, then continue"],
    ["nexus mcp watch docs --json | jq -r .kind", "print one JSON object per change"],
  ],

  async run(context) {
    const { words, options, out, signal } = context;
    const count = countOf(options.count);
    await using servers = await context.openServers(asksAnyone);
    const { definition, rest: uris } = servers.pickFirst(words);
    const { id: server } = definition;
    for (const uri of uris) await requireAllowed(servers, { kind: "subscription", server, uri });
    const client = await servers.connect(definition, { signal });
    await using watcher = new ChangeWatcher(client, {
      uris,
      reads: options.read === true,
      allowed: (tools) => allowedTools(servers, server, tools),
      where: servers.wordsFor(server),
      signal,
    });
    const accepted = await watcher.open();
    out.note(`Watching ${definition.id}: ${accepted.join(", ")}. Press Ctrl-C to stop.`);
    let seen = 0;
    for await (const change of watcher.changes()) {
      if (out.json) out.value(change);
      else for (const line of changeLines(change, out)) out.line(line);
      if (change.kind !== "interrupted" && change.kind !== "restored") seen++;
      if (seen === count) return;
    }
    throw new NexusError("CANCELLED", "Interrupted");
  },
});

function countOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count > 0) return count;
  throw wrongUsage(`--count "${given}" is not a number of changes`, "Use --count 1, or omit it to watch until Ctrl-C.");
}

const FIRST_LINES = 3;

/** A change for people: `12:03:04 tools changed: +new_tool -old_tool`. */
function changeLines(change: SeenChange, out: Pick<Output, "columns" | "style">): string[] {
  const time = out.style("dim", new Date(change.time).toTimeString().slice(0, 8));
  switch (change.kind) {
    case "list-changed": {
      const names = [
        ...change.added.map((name) => out.style("green", `+${visible(name)}`)),
        ...change.removed.map((name) => out.style("red", `-${visible(name)}`)),
      ];
      return [`${time} ${change.list} changed: ${names.join(" ") || "same names as before"}`];
    }
    case "resource-updated": {
      const width = out.columns === undefined ? undefined : out.columns - 11;
      const below =
        change.error === undefined ? (change.contents ?? []).flatMap(firstLines) : [`cannot be read: ${change.error}`];
      const shown = below.map((line) => `           ${cut(visible(line), width)}`.trimEnd());
      return [`${time} resource updated: ${out.style("cyan", visible(change.uri))}`, ...shown];
    }
    case "interrupted":
      return [`${time} ${out.style("yellow", "interrupted:")} ${visible(change.reason)}; changes may be missed`];
    case "restored":
      return [`${time} ${out.style("green", "restored")}`];
  }
}

function firstLines({ text, blob, mimeType }: ResourceContents): string[] {
  if (typeof text !== "string") {
    const bytes = typeof blob === "string" ? sizeText(Math.floor((blob.length * 3) / 4)) : "nothing";
    return [`${mimeType ?? "binary"}, ${bytes}`];
  }
  const lines = text.trimEnd().split(/\r?\n/);
  return lines.length > FIRST_LINES ? [...lines.slice(0, FIRST_LINES), "…"] : lines;
}

/** A change as `watch` shows it. */
type SeenChange = { time: string } & (
  | { kind: "list-changed"; list: ChangingList; added: string[]; removed: string[] }
  | { kind: "resource-updated"; uri: string; contents?: ResourceContents[]; error?: string }
  /** The stream was interrupted; until it is restored, changes may be missed. */
  | { kind: "interrupted"; reason: string }
  | { kind: "restored" }
);

interface ChangeWatcherOptions {
  /** Resources to follow. */
  uris: readonly string[];
  /** Whether updated resources are read. */
  reads: boolean;
  /** The tools that may be shown. */
  allowed: (tools: readonly Tool[]) => readonly Tool[];
  /** The words that select the server, for commands to copy. */
  where: string;
  signal: AbortSignal;
}

const PULSE_MS = 15_000;

/** Follows one server's changes, and finds the differences. */
class ChangeWatcher implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: ChangeWatcherOptions;
  readonly #known = new Map<ChangingList, ReadonlySet<string>>();
  /** Changes that were not processed yet. */
  readonly #queue: (Change & { time: string })[] = [];
  #wake: () => void = () => {};
  #failure: NexusError | undefined;
  #subscription: Subscription | undefined;
  #pulse: NodeJS.Timeout | undefined;

  constructor(client: Client, options: ChangeWatcherOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** Subscribes; returns what the server agreed to. */
  async open(): Promise<string[]> {
    const { uris, signal } = this.#options;
    const client = this.#client;
    const lists = CHANGING_LISTS.filter((list) => client.serverCapabilities?.[list]?.listChanged);
    this.#subscription = await client.subscribe({ lists, resources: uris }, (change) => this.#heard(change));
    const { accepted } = this.#subscription;
    const refused = uris.filter((uri) => !accepted.resources?.includes(uri));
    if (refused.length > 0) throw this.#untold(refused.join(", "));
    const told = [...(accepted.lists ?? []), ...(accepted.resources ?? [])];
    if (told.length === 0) throw this.#untold("anything");
    // After subscribing: a change in between is reported, and found to be no difference.
    for (const list of accepted.lists ?? []) this.#known.set(list, await this.#names(list));
    void client.closed.then(() =>
      this.#fail(client.lost ?? new NexusError("CONNECTION_LOST", "The connection to the server was lost")),
    );
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    // An HTTP server can disappear without notice.
    this.#pulse = setInterval(() => void this.#checkThere(), PULSE_MS);
    return told;
  }

  /** Changes as they come; ends when the signal is aborted, and throws when the server is gone. */
  async *changes(): AsyncGenerator<SeenChange> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      const change = this.#queue.shift();
      if (change) yield* await this.#understand(change);
      else if (this.#failure) throw this.#failure;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pulse);
    await this.#subscription?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #heard(change: Change): void {
    this.#queue.push({ ...change, time: new Date().toISOString() });
    if (change.kind === "interrupted") void this.#checkThere();
    this.#wake();
  }

  #fail(error: NexusError): void {
    this.#failure ??= error.with({ server: this.#client.server });
    this.#wake();
  }

  async #checkThere(): Promise<void> {
    try {
      await this.#client.ping({ signal: this.#options.signal });
    } catch (error) {
      this.#fail(asNexusError(error));
    }
  }

  async #understand(change: Change & { time: string }): Promise<SeenChange[]> {
    const { time } = change;
    switch (change.kind) {
      case "list-changed":
        return [await this.#difference(change.list, time)];
      case "resource-updated":
        return [{ time, kind: change.kind, uri: change.uri, ...(await this.#read(change.uri)) }];
      case "interrupted":
        return [{ time, kind: change.kind, reason: change.error.message }];
      case "restored": {
        const missed = await Promise.all([...this.#known.keys()].map((list) => this.#difference(list, time)));
        return [{ time, kind: change.kind }, ...missed.filter(isDifferent)];
      }
      case "ended":
        this.#fail(change.error);
        return [];
      case "task-changed":
        return [];
    }
  }

  async #difference(list: ChangingList, time: string): Promise<SeenChange> {
    const before = this.#known.get(list) ?? new Set();
    const now = await this.#names(list);
    this.#known.set(list, now);
    const added = [...now].filter((name) => !before.has(name));
    const removed = [...before].filter((name) => !now.has(name));
    return { time, kind: "list-changed", list, added, removed };
  }

  async #names(list: ChangingList): Promise<ReadonlySet<string>> {
    const options = { signal: this.#options.signal, fresh: true };
    if (list === "tools") {
      const tools = await this.#client.listTools(options);
      return new Set(this.#options.allowed(tools).map(({ name }) => name));
    }
    if (list === "prompts") return new Set((await this.#client.listPrompts(options)).map(({ name }) => name));
    return new Set((await this.#client.listResources(options)).map(({ uri }) => uri));
  }

  /** A resource that cannot be read counts as changed. */
  async #read(uri: string): Promise<{ contents?: ResourceContents[]; error?: string }> {
    const { reads, signal } = this.#options;
    if (!reads) return {};
    try {
      return { contents: (await this.#client.readResource(uri, { signal, fresh: true })).contents };
    } catch (error) {
      return { error: asNexusError(error).message };
    }
  }

  #untold(what: string): NexusError {
    const { where } = this.#options;
    return new NexusError("CAPABILITY_MISSING", `The server does not report changes of ${what}`, {
      server: this.#client.server,
      hint: `"nexus mcp connect${where}" shows its capabilities; "nexus mcp resources${where}" lists its resources.`,
    });
  }
}

function isDifferent(change: SeenChange): boolean {
  return change.kind === "list-changed" && change.added.length + change.removed.length > 0;
}
