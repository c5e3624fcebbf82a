import type { InputAnswers, InputRequests } from "../../server/features/call-context.ts";
import { evaluate } from "../expression/evaluate.ts";
import { fillTemplate } from "../expression/fill.ts";
import { parseExpression } from "../expression/parse.ts";
import { parseTemplate, renderTemplate } from "../expression/template.ts";
import type { ConfirmSpec } from "../file/model/tool-file.ts";
import { Failure } from "./failure.ts";
import type { Show } from "./completed-values.ts";
import { shorten } from "../../text/shorten.ts";

type Value = Record<string, unknown>;

/** A caller that can be asked. */
export interface CallerPrompt {
  /** May end the call by throwing: the client then repeats it with the answers. */
  ask(requests: InputRequests): Promise<InputAnswers>;
  /** Whether `ask` waits for people, so that earlier facts may be outdated afterwards. */
  waits: boolean;
}

interface ConfirmationOptions {
  /** Makes the call for the current value. */
  look: (args: Value) => Promise<Value | Failure>;
  asking: CallerPrompt | undefined;
  /** Masks secrets in questions: upstream may have repeated one. */
  show: Show;
  /** The same for a whole question: two adjacent values may form a secret. */
  showWhole: (text: string) => string;
}

/** Maximum length of each value in a question, so that values do not displace the file's own words. */
const MAX_VALUE_CHARACTERS = 300;
/** The maximum number of questions if the value keeps changing. */
const MAX_QUESTIONS = 3;

/**
 * Compares the caller's expectation with the current value; if they differ, nothing is sent unless the caller agrees.
 */
export class Confirmation {
  readonly #spec: ConfirmSpec;
  readonly #find;
  readonly #actual;
  readonly #ask;
  readonly #gone;

  constructor(spec: ConfirmSpec) {
    this.#spec = spec;
    this.#find = parseExpression(spec.find);
    this.#actual = parseExpression(spec.actual);
    this.#ask = parseTemplate(spec.ask);
    this.#gone = parseTemplate(spec.gone);
  }

  /** The input with the confirmed value. */
  async confirm(input: Value, { look, asking, show, showWhole }: ConfirmationOptions): Promise<Value | Failure> {
    const { field } = this.#spec;
    let agreed = input[field];
    for (let asked = 0; ; asked++) {
      const now = await this.#lookAgain(input, { look, show });
      if (now instanceof Failure) return now;
      if (isSame(now.actual, agreed)) return { ...input, [field]: now.actual };
      // Masked before it is cut, because half of a secret is not recognised.
      const showShort: Show = (text, value) => shorten(show(text, value), MAX_VALUE_CHARACTERS);
      const question = showWhole(renderTemplate(this.#ask, { ...now, expected: agreed, input }, showShort));
      if (!asking || asked === MAX_QUESTIONS) return unasked(question, now.actual, this.#spec);
      if (!(await agrees(asking, question, now.actual))) return declined(this.#spec);
      if (!asking.waits) return { ...input, [field]: now.actual };
      agreed = now.actual;
    }
  }

  async #lookAgain(
    input: Value,
    { look, show }: Pick<ConfirmationOptions, "look" | "show">,
  ): Promise<{ found: unknown; actual: number } | Failure> {
    const answer = await look(fillTemplate(this.#spec.arguments, { input }) as Value);
    if (answer instanceof Failure) {
      const text = `What is true now could not be found out, so nothing was changed. ${answer.text}`;
      return new Failure(text, { hint: answer.hint ?? answer.again, said: answer.said, outcome: "refused" });
    }
    const found = evaluate(this.#find, { answer, input });
    const actual = found === null ? null : evaluate(this.#actual, { found, answer, input });
    if (typeof actual === "number") return { found, actual };
    const gone = renderTemplate(this.#gone, { input, found, expected: input[this.#spec.field] }, show);
    return new Failure(gone, { outcome: "refused" });
  }
}

/** A difference below half a cent is the same price. */
function isSame(actual: number, expected: unknown): boolean {
  return typeof expected === "number" && Math.abs(actual - expected) < 1e-6;
}

/** The key of the question contains the value, so an answer to another question is not used. */
async function agrees(asking: CallerPrompt, message: string, actual: number): Promise<boolean> {
  const key = `confirm-${actual}`;
  const requestedSchema = {
    type: "object",
    properties: { confirm: { type: "boolean", title: "Go on", description: message } },
    required: ["confirm"],
  };
  const answers = await asking.ask({ [key]: { method: "elicitation/create", params: { message, requestedSchema } } });
  const { action, content } = answers[key] ?? {};
  return action === "accept" && (content as Value | undefined)?.["confirm"] === true;
}

function unasked(question: string, actual: number, { field, call }: ConfirmSpec): Failure {
  return new Failure(`${question} ${unchanged(call)}`, {
    hint: `If that is agreed, call again with "${field}": ${actual}.`,
    outcome: "refused",
  });
}

function declined({ call }: ConfirmSpec): Failure {
  return new Failure(`It was declined. ${unchanged(call)}`, { outcome: "refused" });
}

function unchanged(call: string): string {
  return `Nothing was changed: only ${call} was sent.`;
}
