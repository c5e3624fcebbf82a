import { renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import type { Host, ServerStatus } from "../../host/host.ts";
import { longNames } from "../doctor/long-names.ts";
import type { Output } from "../output/output.ts";
import { stateWords } from "./greeting.ts";

/** Reports on stderr which servers fail and why, and when they are back. */
export class ServerNews implements Disposable {
  readonly #host: Host;
  readonly #out: Output;
  readonly #prefix: string;
  readonly #stop: () => void;
  /** The last report about each failing server. */
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
      if (this.#troubled.get(id) === words) return;
      this.#troubled.set(id, words);
      const error = "error" in state ? state.error : undefined;
      this.#say("yellow", id, words, error && renderForPrograms(error));
      const { answer, likelyCause, hint } = error?.details ?? {};
      for (const [label, text] of Object.entries({ response: answer, "likely cause": likelyCause, fix: hint })) {
        if (text !== undefined) this.#out.note(visible(`  ${label}: ${text}`));
      }
    } else if (state.kind === "ready" && this.#troubled.delete(id)) {
      this.#say("green", id, stateWords(server));
    }
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
    this.#out.note(visible(`  fix: ${tooLong.advice}`));
  }

  #say(colour: "yellow" | "green", server: string, words: string, details?: { error: Record<string, unknown> }): void {
    const id = this.#prefix + server;
    if (this.#out.json) return this.#out.log(colour === "green" ? "info" : "warn", `${id}: ${words}`, details);
    this.#out.note(`${this.#out.onStderr(colour, `${id}:`)} ${visible(words)}`);
  }
}
