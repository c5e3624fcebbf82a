import type { ConsentAsker, ConsentQuestion, ConsentReply } from "../../agent/consent/consent-question.ts";
import { cutMiddle } from "../../agent/consent/shown-json.ts";
import type {
  SamplingAsker,
  SamplingEdit,
  SamplingParams,
  SamplingQuestion,
  SamplingReply,
  SamplingReviewer,
} from "../../agent/questions/sampling-question.ts";
import { pluralize } from "../output/amounts.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";
import type { TerminalInput } from "./terminal/terminal-input.ts";

interface ChatPersonOptions {
  screen: Pick<ChatScreen, "aside" | "labelled" | "note" | "quoted">;
  input: Pick<TerminalInput, "ask">;
}

/** After more rows than this, the question says again what it is about. */
const MAX_ROWS = 10;
const MAX_NAME = 200;
const REPLIES: Readonly<Record<string, ConsentReply>> = { y: "once", s: "session", a: "always", n: "no" };
const WORDS: Readonly<Record<string, string>> = { yes: "y", no: "n", session: "s", always: "a" };

/** The parts of a request that are edited here. */
type Editable = Pick<SamplingParams, "systemPrompt" | "messages">;

/** The person at the terminal, who decides about calls and about servers that want to use the model. */
export class ChatPerson {
  readonly #options: ChatPersonOptions;

  constructor(options: ChatPersonOptions) {
    this.#options = options;
  }

  /** Asks until the answer is one of the letters: an empty one allows nothing. */
  readonly consent: ConsentAsker = (question, signal) =>
    this.#options.screen.aside(async () => {
      this.#showCall(question);
      const always = question.canRemember ? ", [a]lways for this tool" : "";
      const whole = question.arguments.isShortened ? ", [v]iew all arguments" : "";
      const prompt = `Allow? [y]es once, [s]ession${always}, [n]o${whole}: `;
      for (;;) {
        const letter = await this.#letter(prompt, signal);
        if (letter === "v") this.#options.screen.quoted(question.arguments.whole);
        const reply = letter === "a" && !question.canRemember ? undefined : REPLIES[letter];
        if (reply) return reply;
        if (letter !== "v") this.#notAnAnswer(question.canRemember ? "y, s, a or n" : "y, s or n");
      }
    });

  readonly sampling: SamplingAsker = (question, signal) =>
    this.#options.screen.aside(async () => {
      this.#showSampling(question);
      const whole = question.request.isShortened ? ", [v]iew all" : "";
      const prompt = `Allow? [y]es once, [s]ession, [r]eview the answer before it is sent, [e]dit, [n]o${whole}: `;
      let edit: Editable | undefined;
      for (;;) {
        const letter = await this.#letter(prompt, signal);
        if (letter === "v") this.#options.screen.quoted(question.request.whole);
        if (letter === "e") edit = await this.#edit({ ...question.params, ...edit }, signal);
        const reply = samplingReply(letter, edit);
        if (reply) return reply;
        if (letter !== "e" && letter !== "v") this.#notAnAnswer("y, s, r, e or n");
      }
    });

  readonly review: SamplingReviewer = (answer, signal) =>
    this.#options.screen.aside(async () => {
      this.#options.screen.labelled("bold", answer.server, `will get this answer of ${answer.model}:`);
      this.#options.screen.quoted(answer.text);
      for (const { name, arguments: args } of answer.toolCalls) this.#options.screen.quoted(`calls ${name} ${args}`);
      for (;;) {
        const letter = await this.#letter("Send it? [y]es, [e]dit, [n]o: ", signal);
        if (letter === "y") return { kind: "send" };
        if (letter === "n") return { kind: "decline" };
        if (letter === "e") {
          const text = await this.#options.input.ask("answer: ", signal, answer.text);
          return { kind: "send", text };
        }
        this.#notAnAnswer("y, e or n");
      }
    });

  #showCall({ server, tool, arguments: args, annotations, provenance }: ConsentQuestion): void {
    const { screen } = this.#options;
    const effect = annotations.destructiveHint === true ? " It says that it may destroy something." : "";
    const head = () => screen.labelled("bold", `${server}.${nameIn(tool)}`, `wants to run.${effect}`);
    head();
    if (provenance) screen.quoted(`server: ${provenance.reach}`);
    if (provenance?.file !== undefined) screen.quoted(`configured in: ${provenance.file}`);
    const says = annotationWords(annotations);
    if (says !== "") screen.quoted(`it says: ${says}`);
    // The question is about what it names: that must not be far above it.
    if (screen.quoted(args.text) > MAX_ROWS) head();
  }

  #showSampling({ server, model, request, maxTokens, left }: SamplingQuestion): void {
    const { screen } = this.#options;
    const head = () =>
      screen.labelled("bold", server, `wants to use ${model} (at most ${pluralize(maxTokens, "token")}):`);
    head();
    if (screen.quoted(request.text) > MAX_ROWS) head();
    screen.note(
      `  left for this server: ${pluralize(left.requests, "request")}, ${pluralize(left.tokens, "token")}`,
      "dim",
    );
  }

  /** Changes the first text of the last message of the user, and the instructions if there are any. */
  async #edit({ systemPrompt: system, messages }: Editable, signal: AbortSignal): Promise<Editable> {
    const { input } = this.#options;
    const systemPrompt = system === undefined ? {} : { systemPrompt: await input.ask("system: ", signal, system) };
    const at = messages.findLastIndex(({ role }) => role === "user");
    const message = messages[at];
    const blocks = message ? [message.content].flat() : [];
    const textAt = blocks.findIndex(({ type, text }) => type === "text" && typeof text === "string");
    const block = blocks[textAt];
    if (!message || !block) return { ...systemPrompt, messages };
    const edited = { ...block, text: await input.ask("user: ", signal, String(block.text)) };
    const content = Array.isArray(message.content) ? blocks.with(textAt, edited) : edited;
    return { ...systemPrompt, messages: messages.with(at, { ...message, content }) };
  }

  #notAnAnswer(letters: string): void {
    this.#options.screen.note(`Answer with ${letters}. Nothing is allowed yet.`, "dim");
  }

  async #letter(prompt: string, signal: AbortSignal): Promise<string> {
    const typed = (await this.#options.input.ask(prompt, signal)).trim().toLowerCase();
    return WORDS[typed] ?? typed;
  }
}

/** What a server says about its tool, besides that it may destroy something. */
function annotationWords(annotations: ConsentQuestion["annotations"]): string {
  const { title, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return [
    ...(title === undefined ? [] : [`its title is ${JSON.stringify(cutMiddle(title, MAX_NAME))}`]),
    ...(destructiveHint === false ? ["it destroys nothing"] : []),
    ...(idempotentHint === true ? ["repeating it has no further effect"] : []),
    ...(openWorldHint === true ? ["it reaches other systems"] : []),
    ...(openWorldHint === false ? ["it stays within its own system"] : []),
  ].join("; ");
}

/** A name that could be read as more than a name is quoted. */
function nameIn(tool: string): string {
  const short = cutMiddle(tool, MAX_NAME);
  return /^[^\s\p{Zs}\u2800"]*(?: → [^\s\p{Zs}\u2800"]*)?$/u.test(short) ? short : JSON.stringify(short);
}

function samplingReply(letter: string, edit: SamplingEdit | undefined): SamplingReply | undefined {
  switch (letter) {
    case "y":
      return { kind: "once", edit };
    case "r":
      return { kind: "once", edit, review: true };
    case "s":
      return { kind: "session", edit };
    case "n":
      return { kind: "decline" };
    default:
      return undefined;
  }
}
