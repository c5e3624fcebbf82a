import type { ModelProvider, Usage } from "../../agent/model/model-provider.ts";
import { AgentInput } from "../../agent/questions/agent-input.ts";
import { ElicitationDesk } from "../../agent/questions/elicitation-desk.ts";
import { SamplingDesk } from "../../agent/questions/sampling-desk.ts";
import type { Turns } from "../../async/turns.ts";
import type { CommandContext } from "../command/command.ts";
import { TerminalElicitation } from "../input/terminal-elicitation.ts";
import type { ChatValues } from "./chat-options.ts";
import type { ChatPerson } from "./chat-person.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";
import type { TerminalInput } from "./terminal/terminal-input.ts";

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
  onUsage: (usage: Usage, model: ModelProvider) => void;
}

/** Answers the questions of servers. Undefined if none can be answered, so that none is offered. */
export function serverQuestions(
  { options, out }: CommandContext<ChatValues>,
  { screen, input, person, turns }: ChatTerminal,
  { model, others, onUsage }: ModelUse,
): AgentInput | undefined {
  const allow = options["allow-sampling"] ?? [];
  const forms = input && new TerminalElicitation(out, (run) => screen.aside(() => input.lend(run)));
  const elicitation = forms && new ElicitationDesk(forms, turns);
  if (!person && allow.length === 0) return elicitation && new AgentInput({ elicitation });
  const sampling = new SamplingDesk({
    models: () => [model(), ...others().filter(({ name }) => name !== model().name)],
    ask: person?.sampling,
    review: person?.review,
    allow,
    turns,
    onUsage: (used) => onUsage(used.usage, used.model),
    onRefused: (server, { message }) => screen.above(() => screen.labelled("yellow", `${server}:`, message)),
  });
  return new AgentInput({ sampling, elicitation });
}
