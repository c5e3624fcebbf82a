import { pluralize } from "../output/amounts.ts";
import { totalTokens } from "../../agent/model/usage.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { promptCommands, type PromptCommand } from "../../host/registry.ts";
import { sizeText } from "../../text/byte-size.ts";
import { agoText } from "../../text/duration.ts";
import { resolveListed } from "./chat-models.ts";
import { CHAT_AGENT, type ChatState } from "./chat-state.ts";
import { MCP_COMMANDS, unlessKnown } from "./mcp-commands.ts";
import { expandPrompt, promptParts, promptUsage, resourceParts } from "./prompt-parts.ts";
import { requireUsedServer, serverIds, usedServerIn } from "./server-names.ts";
import { findSlashCommand, type SlashCommand } from "./slash-command.ts";

const MAX_LISTED = 20;

const OWN_COMMANDS: readonly SlashCommand[] = [
  {
    name: "/help",
    usage: "",
    help: "list the commands",
    words: { min: 0, max: 0 },
    run: (_words, state) => showHelp(state),
  },
  {
    name: "/model",
    usage: "[provider:model]",
    help: "show the models, or change the model",
    words: { min: 0, max: 1 },
    run: async ([name], state, signal) => {
      const { conversation, models, screen } = state;
      if (name !== undefined) conversation.model = await resolveListed(models, name, signal);
      screen.note(`The model is ${conversation.model.name}.`);
      if (name === undefined) await showModels(state, signal);
    },
    complete: (_words, { models }) => models.names,
  },
  {
    name: "/cost",
    usage: "",
    help: "show the tokens and the cost of this chat",
    words: { min: 0, max: 0 },
    run: (_words, { conversation, screen }) => {
      const { usage, cost } = conversation;
      const tokens = `${usage.inputTokens} input and ${usage.outputTokens} output tokens`;
      screen.note(totalTokens(usage) === 0 ? "Nothing was used yet." : `${tokens}, ${costText(cost)}`);
    },
  },
  {
    name: "/resource",
    usage: "<server> <uri>",
    help: "add a resource to your next message",
    words: { min: 2, max: 2 },
    run: addResource,
    complete: ([server = "", ...uri], state) => (uri.length === 0 ? serverIds(state) : resourcesOf(state, server)),
  },
  {
    name: "/sessions",
    usage: "",
    help: "list the saved chats",
    words: { min: 0, max: 0 },
    run: (_words, state) => showSessions(state),
  },
  {
    name: "/clear",
    usage: "",
    help: "begin a new conversation; this one stays saved",
    words: { min: 0, max: 0 },
    run: (_words, state) => {
      state.conversation.clear();
      state.attached = [];
      state.screen.note("A new conversation has begun.");
    },
  },
  {
    name: "/exit",
    usage: "",
    help: "end the chat; same as Ctrl-D",
    words: { min: 0, max: 0 },
    run: () => ({ kind: "exit" }),
  },
];

/** All commands: those of the chat, `/mcp …`, and the prompts of the servers that there are now. */
export function slashCommands(state: ChatState): SlashCommand[] {
  return [...OWN_COMMANDS, ...MCP_COMMANDS, ...promptsAsCommands(state)];
}

/** The command that a line names. Throws for a prompt of a server that is not used now, and for unknown commands. */
export function findChatCommand(line: string, state: ChatState): ReturnType<typeof findSlashCommand> {
  try {
    return findSlashCommand(line, slashCommands(state));
  } catch (error) {
    requireUsedServer(state, line.slice(1));
    throw error;
  }
}

/** `/server:prompt` */
function promptsAsCommands({ servers }: ChatState): SlashCommand[] {
  return promptCommands(servers.host, { agent: CHAT_AGENT }).map(asCommand);
}

function asCommand(prompt: PromptCommand): SlashCommand {
  return {
    name: `/${prompt.name}`,
    usage: promptUsage(prompt),
    help: prompt.description,
    words: { min: 0, max: Infinity },
    run: async (words, { input, screen }, signal) => {
      const result = await expandPrompt(prompt, words, { command: `/${prompt.name}`, signal, input });
      const parts = promptParts(result, prompt);
      screen.note(`sending ${pluralize(result.messages.length, "message")} of ${prompt.name}`, "dim");
      return { kind: "send", parts };
    },
    complete: () => prompt.arguments.map(({ name }) => `${name}=`),
  };
}

async function addResource(
  [name = "", uri = ""]: readonly string[],
  state: ChatState,
  signal: AbortSignal,
): Promise<void> {
  const { servers, screen, input } = state;
  const server = usedServerIn(state, name);
  const read = servers.host.readResource(server, uri, { signal, input, agent: CHAT_AGENT });
  const { contents } = await read.catch((error: unknown) => {
    throw unlessKnown(asNexusError(error), uri, {
      known: resourcesOf(state, server),
      list: `/mcp resources ${server}`,
    });
  });
  const { content, bytes } = resourceParts(server, uri, contents);
  state.attached = [...state.attached, ...content];
  screen.note(`${uri} of ${server} is added to your next message (${sizeText(bytes)}).`);
}

function resourcesOf({ servers }: ChatState, only: string): string[] {
  const resources = servers.host.resources({ agent: CHAT_AGENT });
  return resources.filter(({ server }) => server === only).map(({ resource }) => resource.uri);
}

function showHelp(state: ChatState): void {
  const { screen } = state;
  screen.described(slashCommands(state).map(({ name, usage, help }) => [`${name} ${usage}`.trim(), help]));
  screen.note("A backslash at the end of a line, or Alt-Enter, begins another line. Ctrl-C stops the answer.", "dim");
}

async function showModels({ models, screen, conversation }: ChatState, signal: AbortSignal): Promise<void> {
  const listed = await models.list(undefined, signal);
  const others = [...new Set([...models.names, ...listed])].filter((name) => name !== conversation.model.name);
  if (others.length === 0) return;
  screen.note("Others, for /model provider:model:");
  for (const name of others.slice(0, MAX_LISTED)) screen.note(`  ${name}`);
  const more = others.length - MAX_LISTED;
  if (more > 0) screen.note(`and ${more} more: nexus models list --verbose`, "dim");
}

async function showSessions({ sessions, screen, conversation }: ChatState): Promise<void> {
  if (!sessions) return screen.note("This chat is not saved.");
  const saved = await sessions.list((error) => screen.labelled("yellow", "warning:", unreadableText(error)));
  if (saved.length === 0) return screen.note("There are no saved chats.");
  const rows = saved.slice(0, MAX_LISTED).map(({ id, title, updatedAt, model }) => {
    const isThis = id === conversation.id ? " (this chat)" : "";
    return [`${id}${isThis}`, agoText(updatedAt), model || "no model", title];
  });
  screen.rows(rows);
  screen.note(`To continue one: nexus chat --resume ID`, "dim");
}

/** A saved chat that is left out, with its file. */
export function unreadableText({ message, details: { source } }: NexusError): string {
  return `${message}${source ? ` (${source.file})` : ""}`;
}

/** In US dollars; small amounts with more digits. */
function costText(cost: number | undefined): string {
  if (cost === undefined) return "the cost is not known";
  return `$${cost.toFixed(cost >= 1 || cost === 0 ? 2 : 4)}`;
}
