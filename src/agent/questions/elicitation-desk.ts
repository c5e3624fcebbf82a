import { Turns } from "../../async/turns.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities, ElicitRequest, ElicitResult } from "../../protocol/mcp.ts";
import { isRecord } from "../../json/is-record.ts";
import { wrongReply } from "../consent/wrong-reply.ts";
import type { ElicitationHandler, FormQuestion, FormReply } from "./elicitation-handler.ts";
import { checkForm, formFields } from "./form-field.ts";
import { secretFields } from "./secret-fields.ts";

const ACTIONS: readonly ElicitResult["action"][] = ["accept", "decline", "cancel"];
const PAGE_REPLIES = [`"accept"`, `"decline"`, `"cancel"`];
const FORM_REPLIES = [`{ action: "accept", content }`, `{ action: "decline" }`, `{ action: "cancel" }`];

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
    if (!this.#handler.visitPage) return { action: "decline" };
    const reply = await this.#ask(() => this.#handler.visitPage?.({ server, message, url }, signal), signal);
    const action = ACTIONS.find((each) => each === reply);
    if (action === undefined) throw wrongReply(`"visitPage" of ElicitationDesk`, reply, PAGE_REPLIES);
    return { action };
  }

  async #fill(question: FormQuestion, signal: AbortSignal): Promise<ElicitResult> {
    if (!this.#handler.fillForm) return { action: "decline" };
    const reply = await this.#ask(() => this.#handler.fillForm?.(question, signal), signal);
    requireReply(reply);
    if (reply.action !== "accept") return { action: reply.action };
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

function requireReply(reply: FormReply | undefined): asserts reply is FormReply {
  const given: unknown = reply;
  const isReply = isRecord(given) && ACTIONS.some((action) => action === given["action"]);
  if (isReply && (given["action"] !== "accept" || isRecord(given["content"]))) return;
  // A text is probably what the person typed, which is for the server alone.
  const shown = typeof given === "string" ? "a text" : undefined;
  throw wrongReply(`"fillForm" of ElicitationDesk`, reply, FORM_REPLIES, shown);
}
