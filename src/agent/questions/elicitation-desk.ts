import { Turns } from "../../async/turns.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities, ElicitRequest, ElicitResult } from "../../protocol/mcp.ts";
import type { ElicitationHandler, FormQuestion } from "./elicitation-handler.ts";
import { checkForm, formFields } from "./form-field.ts";
import { secretFields } from "./secret-fields.ts";

/** Passes forms and pages of servers to a person, one after the other, and checks the answers. */
export class ElicitationDesk {
  readonly #handler: ElicitationHandler;
  readonly #turns: Turns;

  /** `turns`: shared with others that ask the same person. */
  constructor(handler: ElicitationHandler, turns = new Turns()) {
    this.#handler = handler;
    this.#turns = turns;
  }

  /** Undefined if no kind of question can be shown. */
  get capability(): ClientCapabilities["elicitation"] {
    const form = this.#handler.fillForm && { form: {} };
    const url = this.#handler.visitPage && { url: {} };
    return form || url ? { ...form, ...url } : undefined;
  }

  async answer(server: string, { params }: ElicitRequest, signal: AbortSignal): Promise<ElicitResult> {
    const message = typeof params.message === "string" ? params.message : "";
    if (params.mode === "url") return this.#visit({ server, message, address: params.url }, signal);
    const fields = formFields(params["requestedSchema"]);
    const secrets = secretFields(message, fields).map(({ name }) => name);
    return this.#fill({ server, message, fields, secrets }, signal);
  }

  async #visit(
    { server, message, address }: { server: string; message: string; address: unknown },
    signal: AbortSignal,
  ): Promise<ElicitResult> {
    const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
    // Other protocols could start programs or read files.
    if (url?.protocol !== "https:" && url?.protocol !== "http:") return { action: "decline" };
    const action = await this.#ask(() => this.#handler.visitPage?.({ server, message, url }, signal), signal);
    return { action: action === "accept" || action === "cancel" ? action : "decline" };
  }

  async #fill(question: FormQuestion, signal: AbortSignal): Promise<ElicitResult> {
    const reply = await this.#ask(() => this.#handler.fillForm?.(question, signal), signal);
    if (reply?.action !== "accept") return { action: reply?.action === "cancel" ? "cancel" : "decline" };
    const { content, secretsConfirmed = false } = reply;
    const isSecretSent = question.secrets.some((name) => Object.hasOwn(content, name));
    if (isSecretSent && !secretsConfirmed) return { action: "decline" };
    const problem = await checkForm(question.fields, content);
    if (problem !== undefined) throw new NexusError("INPUT_FAILED", `The form was not filled in correctly: ${problem}`);
    return { action: "accept", content: { ...content } };
  }

  #ask<T>(ask: () => Promise<T> | undefined, signal: AbortSignal): Promise<T | undefined> {
    const asking = this.#turns.run(async () => {
      signal.throwIfAborted();
      return unlessAborted(Promise.resolve(ask()), signal);
    });
    return unlessAborted(asking, signal);
  }
}
