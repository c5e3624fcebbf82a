import type { UserMessage } from "../../agent/model/model-message.ts";
import type { ModelProvider } from "../../agent/model/model-provider.ts";
import type { ChatSessions } from "../../agent/sessions/chat-sessions.ts";
import type { InputProvider } from "../../client/conversation/input.ts";
import type { ChatConversation } from "./chat-conversation.ts";
import type { ChatServers } from "./chat-servers.ts";
import type { ChatScreen } from "./terminal/chat-screen.ts";

/** The name of the chat where servers are shared with some agents only. */
export const CHAT_AGENT = "chat";

/** Finds models by name. */
export interface ChatModels {
  /** The default without a name. Throws CONFIG_INVALID if there is none, NAME_UNKNOWN for an unknown provider. */
  resolve(name: string | undefined): Promise<ModelProvider>;
  /** Names that can be suggested. */
  readonly names: readonly string[];
  /** The models that a provider lists, or all of them. Lists that are not available are left out. */
  list(provider: string | undefined, signal: AbortSignal): Promise<string[]>;
}

/** What the commands of a chat work on. */
export interface ChatState {
  readonly screen: ChatScreen;
  readonly servers: ChatServers;
  readonly conversation: ChatConversation;
  readonly models: ChatModels;
  readonly sessions: ChatSessions | undefined;
  /** Answers the questions of servers. */
  readonly input: InputProvider;
  /** What is sent with the next message. */
  attached: UserMessage["content"];
}
