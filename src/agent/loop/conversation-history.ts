import { answerCalls } from "../model/answer-parts.ts";
import { CallIds } from "../model/call-ids.ts";
import type {
  AssistantMessage,
  ModelMessage,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from "../model/model-message.ts";

/**
 * The messages of a conversation, in an order that every provider accepts: user and assistant alternate, each tool call
 * has one result in the next message, and nothing is empty.
 */
export class ConversationHistory {
  readonly #messages: ModelMessage[] = [];
  readonly #ids = new Set<string>();

  constructor(messages: readonly ModelMessage[]) {
    for (const [at, message] of messages.entries()) {
      if (message.role === "user") this.addUser(message.content);
      else if (message.role === "assistant") this.#restore(message, messages[at + 1]);
    }
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /**
   * A user message after another one continues it. Returns a function that takes the message out again; it does nothing
   * and returns false after an answer.
   */
  addUser(content: UserMessage["content"]): () => boolean {
    const parts = content.filter((part) => part.type !== "text" || !isBlank(part.text));
    if (parts.length === 0) return () => false;
    const last = this.#messages.at(-1);
    const before = last?.role === "user" ? [last] : [];
    const added: ModelMessage = { role: "user", content: [...before.flatMap((message) => message.content), ...parts] };
    this.#messages.splice(this.#messages.length - before.length, before.length, added);
    return () => {
      if (this.#messages.at(-1) !== added) return false;
      this.#messages.splice(-1, 1, ...before);
      return true;
    };
  }

  /** An answer without tool calls. */
  addText(message: AssistantMessage): void {
    const content = message.content.filter((part) => part.type !== "tool_call");
    this.#addAnswer({ role: "assistant", content });
  }

  /** An answer with tool calls and their results, in the same order. */
  addCalls(message: AssistantMessage, results: readonly ToolResultPart[]): void {
    this.#addAnswer(message);
    for (const { id } of answerCalls(message)) this.#ids.add(id);
    this.#messages.push({ role: "tool", content: results });
  }

  /** The message with ids that no call of the conversation has: some providers count again in every answer. */
  withOwnIds(message: AssistantMessage): AssistantMessage {
    const ids = new CallIds(this.#ids);
    const content = message.content.map((part) => {
      if (part.type !== "tool_call") return part;
      const id = ids.take(part.id);
      return id === part.id ? part : { ...part, id };
    });
    return { role: "assistant", content };
  }

  #addAnswer(message: AssistantMessage): void {
    const content = message.content.filter((part) => part.type !== "text" || !isBlank(part.text));
    // Reasoning alone is not an answer.
    if (!content.some(({ type }) => type !== "reasoning")) return;
    const last = this.#messages.at(-1);
    if (last?.role === "assistant") {
      this.#messages[this.#messages.length - 1] = { role: "assistant", content: [...last.content, ...content] };
    } else this.#messages.push({ role: "assistant", content });
  }

  /** A message of an earlier session; results that it lacks are added. */
  #restore(message: AssistantMessage, next: ModelMessage | undefined): void {
    const calls = answerCalls(message);
    if (calls.length === 0) return this.addText(message);
    const results = next?.role === "tool" ? next.content : [];
    this.addCalls(
      message,
      calls.map((call) => results.find(({ id }) => id === call.id) ?? cancelledResult(call)),
    );
  }
}

/** The result of a call that did not come to an end. */
export function cancelledResult({ id, name }: ToolCallPart): ToolResultPart {
  const text = "The call was cancelled before it had a result. It may have had an effect.";
  return { type: "tool_result", id, name, isError: true, content: [{ type: "text", text }] };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
