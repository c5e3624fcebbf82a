import type { NexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import type { DefinitionChange } from "../../host/definitions/definition-ledger.ts";
import { definitionName, nounOf } from "../../host/definitions/held-definition.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { longNames } from "../doctor/long-names.ts";
import type { Output } from "../output/output.ts";
import { stateWords } from "../command/state-words.ts";

/** More changes of a server at once are one line. */
const MAX_CHANGES = 3;
const HELD = "; it is held until it is accepted";
const HELD_IN_SETS = "; pinned sets hold it until it is accepted";

/** Reports on stderr which servers fail and why, when they are back, and what they have changed. */
export class ServerNews implements Disposable {
  readonly #host: Host;
  readonly #out: Output;
  readonly #prefix: string;
  readonly #stop: () => void;
  /** What was last reported about each failing server. */
  readonly #troubled = new Map<string, string>();
  readonly #longNames = new Map<string, string>();

  /** `tenant`: whose servers they are, if it is not `default`. */
  static follow(host: Host, out: Output, tenant?: string): ServerNews {
    return new ServerNews(host, out, tenant);
  }

  private constructor(host: Host, out: Output, tenant: string | undefined) {
    this.#host = host;
    this.#out = out;
    this.#prefix = tenant === undefined ? "" : `${tenant}/`;
    for (const server of host.servers()) this.#look(server);
    this.#stop = host.on((event) => {
      const server = this.#host.find(event.server);
      if (server && event.kind === "state") this.#look(server);
      if (server && event.kind === "definitions") this.#tellChanges(server, event.changes);
      if (server) this.#lookAtNames(server);
    });
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #look(server: ServerStatus): void {
    const { id, state } = server;
    if (state.kind === "failed" || state.kind === "degraded" || state.kind === "waiting-for-trust") {
      const words = stateWords(server);
      const error = "error" in state ? state.error : undefined;
      const gist = gistOf(words, error);
      if (this.#troubled.get(id) === gist) return;
      this.#troubled.set(id, gist);
      this.#say("yellow", id, words, error && renderForPrograms(error));
      const { answer, likelyCause, hint } = error?.details ?? {};
      for (const [label, text] of Object.entries({ response: answer, "likely cause": likelyCause, fix: hint })) {
        if (text !== undefined) this.#hint(`${label}: ${text}`);
      }
    } else if (state.kind === "ready" && this.#troubled.delete(id)) {
      this.#say("green", id, stateWords(server));
    }
  }

  /** What a model reads has changed since it was accepted. */
  #tellChanges({ id }: ServerStatus, changes: readonly DefinitionChange[]): void {
    const forTenant = this.#prefix === "" ? "" : ` --tenant ${this.#host.tenant}`;
    if (changes.length > MAX_CHANGES) {
      const held = this.#host.pins.watches(id) ? "; what is pinned is held until it is accepted" : "";
      this.#say("yellow", id, `${changes.length} definitions have changed${held}`, { server: id, changes });
      this.#hint(`look: nexus mcp changes list --server ${id}${forTenant}`);
      return;
    }
    for (const change of changes) {
      const { kind, name, what } = change;
      const words = `${nounOf(kind)} "${name}" ${what === "changed" ? "has changed" : `was ${what}`}`;
      this.#say("yellow", id, `${words}${this.#held(change)}`, { ...change, kind: nounOf(kind) });
      this.#hint(`look: nexus mcp changes show ${quoteWord(definitionName(change))}${forTenant}`);
    }
  }

  #held(change: DefinitionChange): string {
    const { pins } = this.#host;
    if (change.what === "removed") return "";
    if (pins.isPinned(change)) return HELD;
    return pins.watches(change.server) && !pins.concerns(change.server) ? HELD_IN_SETS : "";
  }

  /** A name that is too long may cost a client all its tools, so it is reported when the tools are first listed. */
  #lookAtNames({ id, definition }: ServerStatus): void {
    const { tools, prompts } = this.#host.offered(id);
    const tooLong = longNames(
      definition,
      [...tools, ...prompts].map(({ name }) => name),
    );
    if (this.#longNames.get(id) === tooLong?.evidence) return;
    if (!tooLong) return void this.#longNames.delete(id);
    this.#longNames.set(id, tooLong.evidence);
    this.#say("yellow", id, tooLong.evidence);
    this.#hint(`fix: ${tooLong.advice}`);
  }

  /** For people, below the line that it belongs to; the data of a log line says the same. */
  #hint(text: string): void {
    if (!this.#out.logsJson) this.#out.note(visible(`  ${text}`));
  }

  #about(server: string, details: Record<string, unknown> | undefined): Record<string, unknown> {
    return { ...(this.#prefix === "" ? {} : { tenant: this.#host.tenant }), server, ...details };
  }

  #say(colour: "yellow" | "green", server: string, words: string, details?: Record<string, unknown>): void {
    const id = this.#prefix + server;
    if (this.#out.logsJson)
      return this.#out.log(colour === "green" ? "info" : "warn", `${id}: ${words}`, this.#about(server, details));
    this.#out.note(`${this.#out.onStderr(colour, `${id}:`)} ${visible(words)}`);
  }
}

/** The same for failures that differ only in times, process ids and the like, which are in the words of each attempt. */
function gistOf(words: string, error: NexusError | undefined): string {
  const { status, exitCode, signal } = error?.details ?? {};
  return [error?.code, status, exitCode, signal, words.replaceAll(/\S*\d\S*/g, "#")].join(" ");
}
