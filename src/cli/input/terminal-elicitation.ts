import type {
  ElicitationHandler,
  FormQuestion,
  FormReply,
  PageQuestion,
} from "../../agent/questions/elicitation-handler.ts";
import type { ElicitResult } from "../../protocol/mcp.ts";
import type { Output } from "../output/output.ts";
import { fillForm, visitPage } from "./form.ts";

type Aside = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Shows the forms and pages of servers to the user at the terminal. */
export class TerminalElicitation implements ElicitationHandler {
  readonly #out: Output;
  readonly #aside: Aside;

  /** `aside` runs a question while nothing else is shown or read at the terminal. */
  constructor(out: Output, aside: Aside) {
    this.#out = out;
    this.#aside = aside;
  }

  async fillForm(question: FormQuestion, signal: AbortSignal): Promise<FormReply> {
    const { server } = question;
    const content = await this.#aside(() => fillForm(question, { out: this.#out, server, signal }), signal);
    return content ? { action: "accept", content, secretsConfirmed: true } : { action: "decline" };
  }

  async visitPage({ server, message, url }: PageQuestion, signal: AbortSignal): Promise<ElicitResult["action"]> {
    const isDone = await this.#aside(() => visitPage(message, url.href, { out: this.#out, server, signal }), signal);
    return isDone ? "accept" : "decline";
  }
}
