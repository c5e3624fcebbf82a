import { Agent } from "../../agent/loop/agent.ts";
import type { AgentOptions, TurnOptions, TurnResult } from "../../agent/loop/agent-options.ts";
import type { ModelMessage, UserMessage } from "../../agent/model/model-message.ts";
import type { ModelProvider, Usage } from "../../agent/model/model-provider.ts";
import { addUsage, costOf, NO_USAGE } from "../../agent/model/usage.ts";
import { ChatSessions } from "../../agent/sessions/chat-sessions.ts";
import { titleOf, type SavedSession } from "../../agent/sessions/saved-session.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";

interface ChatConversationOptions {
  agent: Omit<AgentOptions, "messages">;
  /** Undefined: nothing is saved. */
  sessions: ChatSessions | undefined;
  resumed?: SavedSession | undefined;
  /** Called if the conversation cannot be saved; it goes on. */
  onUnsaved: (error: NexusError) => void;
  /** Called if another chat has continued the same session, so that this one is saved as a new session. */
  onSavedApart: (old: string, id: string) => void;
}

/** The conversation of a chat: an agent whose turns are saved, each as soon as it ends. */
export class ChatConversation {
  readonly #options: ChatConversationOptions;
  #agent: Agent;
  #id: string;
  #title: string | undefined;
  #createdAt: number;
  /** When the session was saved last, as far as this chat knows. */
  #savedAt: number | undefined;
  /** The model that answered last: a chat is not resumed with one that never answered, if another one did. */
  #answeredBy: string;
  /** The message that was stopped before it was answered: it is saved, so that a resumed chat knows it. */
  #stopped: UserMessage | undefined;
  #usage: Usage;
  /** Undefined if the price of an answer is not known. */
  #cost: number | undefined;

  constructor(options: ChatConversationOptions) {
    const { resumed } = options;
    this.#options = options;
    this.#agent = this.#newAgent(resumed?.messages ?? [], options.agent.model);
    this.#id = resumed?.id ?? ChatSessions.newId();
    this.#title = resumed?.title;
    this.#createdAt = resumed?.createdAt ?? Date.now();
    this.#savedAt = resumed?.updatedAt;
    this.#answeredBy = resumed?.model || options.agent.model.name;
    this.#usage = resumed?.usage ?? NO_USAGE;
    this.#cost = resumed ? resumed.cost : 0;
  }

  /** Of the session; undefined if nothing is saved. */
  get id(): string | undefined {
    return this.#savedAt === undefined ? undefined : this.#id;
  }

  get model(): ModelProvider {
    return this.#agent.model;
  }

  set model(model: ModelProvider) {
    this.#agent.model = model;
  }

  get messages(): readonly ModelMessage[] {
    return this.#agent.messages;
  }

  /** Of all turns, also before it was resumed. */
  get usage(): Usage {
    return this.#usage;
  }

  /** In US dollars, of all turns. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /**
   * One turn. It is saved however it ends, unless it failed and nothing was ever answered. `said` is what the person typed,
   * where the message also has what a server wrote; the title is made of it.
   */
  async send(content: UserMessage["content"], turn: TurnOptions & { said?: string }): Promise<TurnResult> {
    const { said = textsIn(content), ...options } = turn;
    this.#title ??= titleOf(said);
    const result = await this.#agent.send(content, options);
    this.count(result.usage, this.model);
    const { isTakenBack = false, stopReason } = result;
    if (!isTakenBack) this.#answeredBy = this.model.name;
    this.#stopped = isTakenBack && stopReason === "cancelled" ? { role: "user", content } : undefined;
    if (this.messages.length > 0 || this.#stopped) await this.#save();
    else this.#title = undefined;
    return result;
  }

  /** Adds what an answer has used. */
  count(usage: Usage, { prices }: ModelProvider): void {
    this.#usage = addUsage(this.#usage, usage);
    const cost = usage.inputTokens + usage.outputTokens === 0 ? 0 : costOf(usage, prices);
    this.#cost = cost === undefined || this.#cost === undefined ? undefined : this.#cost + cost;
  }

  /** Begins a new conversation; the old one stays saved. */
  clear(): void {
    this.#agent = this.#newAgent([], this.model);
    this.#id = ChatSessions.newId();
    this.#title = undefined;
    this.#stopped = undefined;
    this.#answeredBy = this.model.name;
    this.#createdAt = Date.now();
    this.#savedAt = undefined;
    this.#usage = NO_USAGE;
    this.#cost = 0;
  }

  #newAgent(messages: readonly ModelMessage[], model: ModelProvider): Agent {
    return new Agent({ ...this.#options.agent, messages, model });
  }

  async #save(): Promise<void> {
    const { sessions, onUnsaved } = this.#options;
    if (!sessions) return;
    const session: SavedSession = {
      id: this.#id,
      title: this.#title ?? "",
      model: this.#answeredBy,
      createdAt: this.#createdAt,
      updatedAt: Math.max(Date.now(), (this.#savedAt ?? 0) + 1),
      messages: this.#stopped ? [...this.messages, this.#stopped] : this.messages,
      usage: this.#usage,
      cost: this.#cost,
    };
    try {
      const id = await sessions.save(session, this.#savedAt);
      this.#savedAt = session.updatedAt;
      this.#savedAs(id);
    } catch (error) {
      onUnsaved(asNexusError(error));
    }
  }

  #savedAs(id: string): void {
    const old = this.#id;
    this.#id = id;
    if (id !== old) this.#options.onSavedApart(old, id);
  }
}

function textsIn(content: UserMessage["content"]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}
