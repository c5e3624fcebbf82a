import type { InputAnswers, InputRequests } from "../../server/features/call-context.ts";
import { evaluate } from "../expression/evaluate.ts";
import { fillTemplate } from "../expression/fill.ts";
import { parseExpression } from "../expression/parse.ts";
import { parseTemplate, renderTemplate } from "../expression/template.ts";
import type { ConfirmSpec } from "../file/model/tool-file.ts";
import { Failure } from "./failure.ts";
import type { Show } from "./secrets/redaction.ts";
import { shorten } from "../../text/shorten.ts";

type Value = Record<string, unknown>;

/** Whoever called can be asked. */
export interface CallerPrompt {
  /** May end the call by throwing: the client then calls again with the answers. */
  ask(requests: InputRequests): Promise<InputAnswers>;
  /** Whether `ask` waits for people, so that what was true when it was called may not be true any more. */
  waits: boolean;
}

export interface ConfirmationOptions {
  /** What the fresh call gives. */
  look: (args: Value) => Promise<Value | Failure>;
  asking: CallerPrompt | undefined;
  /** Takes secrets out of what is asked: upstream may have repeated one. */
  show: Show;
  /** The same for a question as a whole: two values beside each other may be one secret. */
  showWhole: (text: string) => string;
}

/** Of each value in a question: those of callers and of upstream must not push the file's own words out of it. */
const MAX_VALUE_CHARACTERS = 300;
/** A price that changes faster than people can answer is not worth waiting for. */
const MAX_QUESTIONS = 3;

/** Compares what the caller expects with what is true now; where it differs, nothing is done unless the caller agrees. */
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

  /** The input with what was confirmed in it. */
  async confirm(input: Value, { look, asking, show, showWhole }: ConfirmationOptions): Promise<Value | Failure> {
    const { field } = this.#spec;
    let agreed = input[field];
    for (let asked = 0; ; asked++) {
      const now = await this.#lookAgain(input, { look, show });
      if (now instanceof Failure) return now;
      if (isSame(now.actual, agreed)) return { ...input, [field]: now.actual };
      // Secrets are taken out before anything is cut: half of one is not recognised.
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

/** Half a cent less than nothing is the same price. */
function isSame(actual: number, expected: unknown): boolean {
  return typeof expected === "number" && Math.abs(actual - expected) < 1e-6;
}

/** The value stands in the name of the question: an answer to another one is no answer to this. */
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
