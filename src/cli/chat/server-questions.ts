import type { ModelProvider, Usage } from "../../agent/model/model-provider.ts";
import { AgentInput } from "../../agent/questions/agent-input.ts";
import { ElicitationDesk } from "../../agent/questions/elicitation-desk.ts";
import type {
  ElicitationHandler,
  FormQuestion,
  FormReply,
  PageQuestion,
} from "../../agent/questions/elicitation-handler.ts";
import { SamplingDesk } from "../../agent/questions/sampling-desk.ts";
import type { Turns } from "../../async/turns.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import type { CommandContext } from "../command/command.ts";
import type { ChatValues } from "./chat-options.ts";
import type { ChatPerson } from "./chat-person.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";
import type { TerminalInput } from "./terminal/terminal-input.ts";
import type { Output } from "../output/output.ts";
import { fillForm, visitPage } from "../input/form.ts";
import type { ElicitResult } from "../../protocol/mcp.ts";

/** The terminal of a chat; without a keyboard there is nobody to ask. */
export interface ChatTerminal {
  screen: ChatScreen;
  input: TerminalInput | undefined;
  person: ChatPerson | undefined;
  /** One person answers one question at a time. */
  turns: Turns;
}

interface ModelUse {
  model: () => ModelProvider;
  /** Others that servers may ask for by name or price. */
  others: () => readonly ModelProvider[];
  /** Finds a model by a part of its name among those that providers list. */
  find: (part: string, signal: AbortSignal) => Promise<ModelProvider | undefined>;
  onUsage: (usage: Usage, model: ModelProvider) => void;
}

/** Answers the questions of servers. With nobody to ask they are declined, except those of allowed servers. */
export function serverQuestions(
  { options, out }: CommandContext<ChatValues>,
  { screen, input, person, turns }: ChatTerminal,
  { model, others, find, onUsage }: ModelUse,
): AgentInput {
  const allow = options["allow-sampling"] ?? [];
  const forms = input
    ? new TerminalElicitation(out, (run, signal) => input.aside(() => screen.aside(() => input.lend(run)), signal))
    : new NobodyToAsk(screen);
  const elicitation = new ElicitationDesk(forms, turns);
  const refused = new Refused(screen);
  const ask = person && input?.asked(person.sampling);
  const sampling = new SamplingDesk({
    models: () => [model(), ...others().filter(({ name }) => name !== model().name)],
    findModel: find,
    ask:
      ask &&
      ((question, signal) => {
        refused.forget();
        return ask(question, signal);
      }),
    review: person && input?.asked(person.review),
    reviewed: "requested",
    allow,
    turns,
    onUsage: (used) => onUsage(used.usage, used.model),
    onRefused: (server, error) => refused.tell(server, error),
  });
  return new AgentInput({ sampling, elicitation });
}

const MOST_TOLD = 3;

/** Says why requests of servers were refused. A server that asks thousands of times does not fill the screen. */
class Refused {
  readonly #screen: ChatScreen;
  readonly #told = new Map<string, number>();

  constructor(screen: ChatScreen) {
    this.#screen = screen;
  }

  tell(server: string, { message, hint }: NexusError): void {
    const told = (this.#told.get(server) ?? 0) + 1;
    this.#told.set(server, told);
    if (told > MOST_TOLD) return;
    const label = message.includes(`"${server}"`) ? "warning:" : `${server}:`;
    this.#screen.labelled("yellow", label, hint === undefined ? message : `${message}. ${hint}`);
    if (told === MOST_TOLD) this.#screen.labelled("yellow", `${server}:`, "further refusals are not shown");
  }

  /** The person is asked, so what follows is told again. */
  forget(): void {
    this.#told.clear();
  }
}

/** Declines forms and pages, and says once for each server how they can be answered. */
class NobodyToAsk implements ElicitationHandler {
  readonly #screen: ChatScreen;
  readonly #told = new Set<string>();

  constructor(screen: ChatScreen) {
    this.#screen = screen;
  }

  async fillForm({ server }: FormQuestion): Promise<FormReply> {
    this.#tell(server);
    return { action: "decline" };
  }

  async visitPage({ server }: PageQuestion): Promise<"decline"> {
    this.#tell(server);
    return "decline";
  }

  #tell(server: string): void {
    if (this.#told.has(server)) return;
    this.#told.add(server);
    const text =
      "its question was declined, because there is no person to ask. Run nexus chat at a terminal to answer it.";
    this.#screen.labelled("yellow", `${server}:`, text);
  }
}

type Aside = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Shows the forms and pages of servers to the user at the terminal. */
class TerminalElicitation implements ElicitationHandler {
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
