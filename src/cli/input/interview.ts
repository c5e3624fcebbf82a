import { Turns } from "../../async/turns.ts";
import type { InputContext } from "../../client/conversation/input.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type {
  CreateMessageRequest,
  ElicitRequest,
  ElicitResult,
  InputRequest,
  InputResult,
} from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";
import { fillForm, visitPage } from "./form.ts";
import { defaultOf, formFields, readField, type FormField } from "../../agent/questions/form-field.ts";
import { secretFields } from "../../agent/questions/secret-fields.ts";
import { GivenAnswers } from "./given-answers.ts";
import type { Output } from "../output/output.ts";
import type { SamplingProgram } from "./sampling-program.ts";
import type { Unanswered } from "./unanswered.ts";

export interface InterviewOptions {
  out: Output;
  /** As given on the command line: `question.name=value` or `name=value`. */
  answers: readonly string[];
  sampler: SamplingProgram | undefined;
  /** Whether a user at the terminal is asked before the program runs. */
  asksToSample: boolean;
  /** Clears the progress line for a question. */
  aside: <T>(run: () => Promise<T>) => Promise<T>;
  /** The server's era; known after it is connected. */
  era: () => Era | undefined;
}

/** Answers a server's questions: with given answers, otherwise at the terminal, otherwise not at all. */
export class Interview {
  readonly answers: GivenAnswers;
  /** Questions that could not be asked. */
  readonly unanswered: Unanswered[] = [];
  readonly #options: InterviewOptions;
  readonly #open = new Set<Promise<void>>();
  readonly #asking = new Turns();

  constructor(options: InterviewOptions) {
    this.#options = options;
    this.answers = new GivenAnswers(options.answers);
  }

  handle(request: InputRequest, context: InputContext): Promise<InputResult> {
    const answering = this.#handle(request, context);
    const over = answering.then(
      () => {},
      () => {},
    );
    this.#open.add(over);
    void over.then(() => this.#open.delete(over));
    return answering;
  }

  /** A failing question ends its round; waits until the other questions of the round are also known. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #handle(request: InputRequest, context: InputContext): Promise<InputResult> {
    if (request.method === "elicitation/create") return this.#elicit(request, context);
    const { sampler, out } = this.#options;
    if (request.method !== "sampling/createMessage" || !sampler) {
      throw new NexusError("CAPABILITY_MISSING", `The client did not declare support for ${request.method}`);
    }
    try {
      await this.#allowSampling(request.params, context);
      return await sampler.answer(request, context.signal);
    } catch (error) {
      // A legacy server learns only that it was refused; the user should see why.
      if (this.#options.era() === "legacy" && error instanceof NexusError) out.note(`nexus: ${error.message}`);
      throw error;
    }
  }

  async #allowSampling(params: CreateMessageRequest["params"], context: InputContext): Promise<void> {
    const { out, asksToSample } = this.#options;
    if (!asksToSample || !out.isInteractive) return;
    const { allowsSampling } = await import("./sampling-approval.ts");
    const { server } = context;
    if (await this.#ask(() => allowsSampling(params, { out, ...context }))) return;
    throw new NexusError("DENIED", `You did not allow server "${server}" to use the program of --sample-with`, {
      server,
    });
  }

  #elicit({ params }: ElicitRequest, context: InputContext): Promise<ElicitResult> {
    const key = String(context.key);
    // Used before anything is awaited: questions of one round come in the server's order.
    this.answers.begin(key);
    const { url } = params;
    const message = typeof params.message === "string" ? params.message : "";
    if (params.mode === "url") return this.#visit({ key, message, url: String(url) }, context);
    const fields = formFields(params["requestedSchema"]);
    return this.#fill({ key, message, fields, schema: params["requestedSchema"] }, context);
  }

  async #visit({ key, message, url }: { key: string; message: string; url: string }, context: InputContext) {
    const { answers } = this;
    const { out } = this.#options;
    const given = answers.take(key, "url");
    if (isVerdict(given)) return { action: given };
    const problems = problemsOfVerdict("url", given);
    if (given !== undefined) answers.drop(key, "url");
    if (!out.isInteractive) return this.#nobody({ kind: "url", key, message, url, problems }, context);
    const isDone = await this.#ask(() => visitPage(message, url, { out, ...context }));
    return { action: isDone ? ("accept" as const) : ("decline" as const) };
  }

  async #fill(
    { key, message, fields, schema }: Pick<Form, "key" | "message" | "fields" | "schema">,
    context: InputContext,
  ): Promise<ElicitResult> {
    const { answers } = this;
    const { out } = this.#options;
    const verdict = fields.some(({ name }) => name === "form") ? undefined : answers.take(key, "form");
    const texts = fields.map((field) => ({ field, texts: takeFor(field, key, answers) }));
    if (verdict === "decline") return { action: verdict };
    const content: Record<string, unknown> = {};
    const problems = problemsOfVerdict("form", verdict);
    if (problems.length > 0) answers.drop(key, "form");
    for (const { field, texts: given } of texts) {
      if (given.length === 0) continue;
      const reading = await readField(field, given);
      if ("value" in reading) content[field.name] = reading.value;
      else {
        problems.push({ name: field.name, text: reading.problem });
        answers.drop(key, field.name);
      }
    }
    const open = fields.filter(({ name }) => !Object.hasOwn(content, name));
    const isMissing = open.some((field) => field.required && defaultOf(field) === undefined);
    const isAnswered = verdict === "accept" || Object.keys(content).length > 0;
    if (isAnswered && !isMissing && problems.length === 0) {
      return { action: "accept", content: { ...defaultsOf(open), ...content } };
    }
    if (!out.isInteractive) {
      const given = Object.keys(content);
      return this.#nobody({ kind: "form", key, message, fields, given, schema, problems }, context);
    }
    const secrets = secretFields(message, open).map(({ name }) => name);
    const filled = await this.#ask(() => fillForm({ message, fields: open, secrets }, { out, ...context }));
    return filled ? { action: "accept", content: { ...content, ...filled } } : { action: "decline" };
  }

  /** A modern call can be parked; any other server gets the answer that the user declines. */
  #nobody(question: Unanswered, { call }: InputContext): ElicitResult {
    this.unanswered.push(question);
    const canWait = this.#options.era() === "modern" && !call?.method.startsWith("tasks/");
    if (canWait)
      throw new NexusError("INPUT_FAILED", `There was no terminal to answer the question: ${question.message}`);
    return { action: "decline" };
  }

  /** One question after the other, because there is one terminal. */
  #ask<T>(ask: () => Promise<T>): Promise<T> {
    return this.#asking.run(() => this.#options.aside(ask));
  }
}

type Problem = Unanswered["problems"][number];

type Form = Extract<Unanswered, { kind: "form" }>;

function takeFor({ name, kind }: FormField, key: string, answers: GivenAnswers): string[] {
  return kind === "choices"
    ? answers.takeAll(key, name)
    : [answers.take(key, name)].filter((text) => text !== undefined);
}

function defaultsOf(fields: readonly FormField[]): Record<string, unknown> {
  const entries = fields.map((field) => [field.name, defaultOf(field)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function problemsOfVerdict(name: string, given: string | undefined): Problem[] {
  if (given === undefined || isVerdict(given)) return [];
  return [{ name, text: `${name}="${given}" is not accept or decline` }];
}

function isVerdict(text: string | undefined): text is "accept" | "decline" {
  return text === "accept" || text === "decline";
}
