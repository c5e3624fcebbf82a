import { join } from "node:path";
import { pluralize } from "../output/amounts.ts";
import { totalTokens } from "../../agent/model/usage.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { promptCommands, type PromptCommand, type ExecuteOptions } from "../../host/registry.ts";
import { sizeText } from "../../text/byte-size.ts";
import { agoText } from "../../text/duration.ts";
import { resolveListed } from "./chat-models.ts";
import { ROOTS_COMMAND } from "./chat-roots.ts";
import { CHAT_AGENT, type ChatState } from "./chat-state.ts";
import { requireUsedServer, serverIds, usedServerIn, connectedServerIn, serverIn } from "./server-names.ts";
import { promptValues, type SlashCommand } from "./slash-command.ts";
import { lastLines, timedLine } from "../../host/server-log-reader.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { chatStateWords } from "./chat-state-words.ts";
import type { GetPromptResult, ResourceContents } from "../../protocol/mcp.ts";
import { resultParts } from "../../host/result-parts.ts";
import type { UserMessage } from "../../agent/model/model-message.ts";
import { modelResult, type ModelResult } from "../../agent/tools/model-result.ts";
import { promptLine } from "../../agent/tools/origin.ts";

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
  ROOTS_COMMAND,
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

const LOG_LINES = 20;
const ONE = { min: 1, max: 1 };
const scope = { agent: CHAT_AGENT };

/** `/mcp …`: looks at the servers and changes them for this chat. Nothing is written to a configuration file. */
export const MCP_COMMANDS: readonly SlashCommand[] = [
  {
    name: "/mcp",
    usage: "",
    help: "show the servers and their state",
    words: { min: 0, max: 1 },
    run: (_words, state) => showServers(state),
  },
  {
    name: "/mcp tools",
    usage: "[server]",
    help: "list the tools",
    words: { min: 0, max: 1 },
    run: ([server], state) => showTools(state, server && usedServerIn(state, server)),
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp resources",
    usage: "[server]",
    help: "list the resources and templates",
    words: { min: 0, max: 1 },
    run: ([server], state) => showResources(state, server && usedServerIn(state, server)),
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp prompts",
    usage: "[server]",
    help: "list the prompts",
    words: { min: 0, max: 1 },
    run: ([server], state) => showPrompts(state, server && usedServerIn(state, server)),
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp prompt",
    usage: "<server.prompt> [argument]…",
    help: "show the messages of a prompt without sending them",
    words: { min: 1, max: Infinity },
    run: showPrompt,
    complete: ([, ...more], { servers }) =>
      more.length > 0 ? [] : promptCommands(servers.host, scope).map(dottedName),
  },
  {
    name: "/mcp connect",
    usage: "<server>",
    help: "connect a server that was disconnected, failed or not used yet",
    words: ONE,
    run: async ([server = ""], state) => {
      const id = serverIn(state, server);
      await state.servers.connect(id);
      showServer(state, id);
    },
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp disconnect",
    usage: "<server>",
    help: "close the connection of a server, for this chat",
    words: ONE,
    run: async ([server = ""], state) => {
      const id = serverIn(state, server);
      await state.servers.disconnect(id);
      showServer(state, id);
    },
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp enable",
    usage: "<server>",
    help: "use the tools of a server again",
    words: ONE,
    run: ([server = ""], state) => toggle(state, connectedServerIn(state, server), true),
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp disable",
    usage: "<server>",
    help: "hide the tools of a server from the model, for this chat",
    words: ONE,
    run: ([server = ""], state) => toggle(state, connectedServerIn(state, server), false),
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp retry",
    usage: "<server>",
    help: "try a failed server again, or read the lists of a running one",
    words: ONE,
    run: async ([server = ""], state) => {
      const id = connectedServerIn(state, server);
      await state.servers.host.retry(id);
      showServer(state, id);
    },
    complete: (_words, state) => serverIds(state),
  },
  {
    name: "/mcp logs",
    usage: "<server>",
    help: `show the last ${LOG_LINES} lines that a server wrote to stderr`,
    words: ONE,
    run: async ([server = ""], state) => showLogs(state, serverIn(state, server)),
    complete: (_words, state) => serverIds(state),
  },
];

/** An unknown name gets the nearest one and the command that lists them all, whoever has noticed it. */
function unlessKnown(
  error: NexusError,
  name: string,
  { known, list }: { known: readonly string[]; list: string },
): NexusError {
  if (error.code === "CANCELLED" || known.includes(name)) return error;
  const near = nearestName(name, known);
  return error.amended({ hint: `${near === undefined ? "" : `Did you mean ${near}? `}${list} lists them.` });
}

function showServers(state: ChatState): void {
  const { screen, servers } = state;
  const ids = serverIds(state);
  if (ids.length === 0) return screen.note("There are no servers. Add one: nexus mcp add NAME -- COMMAND …");
  for (const id of ids) showServer(state, id);
  const tools = servers.host.tools(scope).length;
  screen.note(`${pluralize(tools, "tool")} for the model`, "dim");
}

function showServer({ screen, servers }: ChatState, id: string): void {
  const status = servers.host.find(id);
  const count = servers.host.tools(scope).filter(({ server }) => server === id).length;
  const state = status ? chatStateWords(status) : `disconnected; to connect it: /mcp connect ${id}`;
  const tools =
    status?.state.kind === "ready" || status?.state.kind === "degraded" ? `, ${pluralize(count, "tool")}` : "";
  screen.labelled("bold", `${id}:`, `${state}${tools}`);
}

function showTools({ screen, servers }: ChatState, only: string | undefined): void {
  const tools = servers.host.tools(scope).filter(({ server }) => only === undefined || server === only);
  showRows(
    screen,
    "There are no tools.",
    tools.map(({ server, tool }) => {
      const effect = tool.annotations?.readOnlyHint === true ? "" : " (asks)";
      return [`${server}.${tool.name}${effect}`, tool.title ?? tool.description ?? ""];
    }),
  );
}

function showResources({ screen, servers: { host } }: ChatState, only: string | undefined): void {
  const isWanted = ({ server }: { server: string }) => only === undefined || server === only;
  const resources = host.resources(scope).filter(isWanted);
  const templates = host.templates(scope).filter(isWanted);
  showRows(screen, "There are no resources.", [
    ...resources.map(({ server, resource }): [string, string] => [
      `${server} ${resource.uri}`,
      resource.title ?? resource.name,
    ]),
    ...templates.map(({ server, template }): [string, string] => [
      `${server} ${template.uriTemplate}`,
      template.title ?? template.name,
    ]),
  ]);
}

function showPrompts({ screen, servers: { host } }: ChatState, only: string | undefined): void {
  const prompts = host.prompts(scope).filter(({ server }) => only === undefined || server === only);
  showRows(
    screen,
    "There are no prompts.",
    prompts.map(({ server, prompt }) => {
      const args = prompt.arguments?.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)) ?? [];
      return [[`/${server}:${prompt.name}`, ...args].join(" "), prompt.title ?? prompt.description ?? ""];
    }),
  );
}

async function showPrompt(
  [name = "", ...words]: readonly string[],
  state: ChatState,
  signal: AbortSignal,
): Promise<void> {
  const { screen, servers, input } = state;
  requireUsedServer(state, name);
  const prompts = promptCommands(servers.host, scope);
  const full = servers.host.directory.withId(name);
  const prompt = prompts.find((each) => each.name === name || dottedName(each) === full);
  const expanding = prompt
    ? expandPrompt(prompt, words, { command: `/mcp prompt ${name}`, signal, input })
    : servers.host.getPrompt(name, {}, { signal, input, ...scope });
  const { messages } = await expanding.catch((error: unknown) => {
    if (prompt) throw error;
    throw unlessKnown(asNexusError(error), name, { known: prompts.map(dottedName), list: "/mcp prompts" });
  });
  for (const message of messages) screen.labelled("bold", `${message.role}:`, promptText(message));
}

/** `server.prompt` */
function dottedName({ name, server }: PromptCommand): string {
  return `${server}.${name.slice(server.length + 1)}`;
}

async function toggle(state: ChatState, id: string, isEnabled: boolean): Promise<void> {
  await state.servers.host.toggle(id, isEnabled);
  if (isEnabled) return showServer(state, id);
  state.screen.note(`${id}: disabled for this chat. "nexus mcp disable ${id}" writes it to the configuration.`);
}

async function showLogs({ screen, servers }: ChatState, id: string): Promise<void> {
  const { lines } = await lastLines(join(servers.stateFolder, "logs", `${id}.log`), LOG_LINES);
  if (lines.length === 0) screen.note(`Nexus has no stderr output of "${id}".`);
  for (const text of lines) screen.note(timedLine(text).line);
}

function showRows(screen: ChatState["screen"], none: string, rows: [name: string, description: string][]): void {
  if (rows.length === 0) return screen.note(none);
  screen.described(rows);
}

type PromptMessage = GetPromptResult["messages"][number];

/** The text of a message of a prompt, for people. */
function promptText({ content }: PromptMessage): string {
  const parts = resultParts({ content: [content].flat() });
  return parts.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
}

/** The messages of a server's prompt as one message of the user, who has chosen to send them. */
function promptParts(
  { messages }: GetPromptResult,
  { name, server }: Pick<PromptCommand, "name" | "server">,
): UserMessage["content"] {
  const isOnlyUser = messages.every(({ role }) => role === "user");
  const parts = messages.flatMap((message) => {
    const { content } = modelResult({ content: [message.content].flat() }, undefined, undefined);
    return isOnlyUser ? content : [{ type: "text" as const, text: `${message.role}:` }, ...content];
  });
  const text = promptLine({ server, prompt: name.slice(server.length + 1) });
  return [{ type: "text", text }, ...parts];
}

/** A resource for the model, with its origin. */
function resourceParts(server: string, uri: string, contents: readonly ResourceContents[]): ModelResult {
  const content = contents.map((resource) => ({ type: "resource", resource }));
  return modelResult({ content }, { server, resource: uri }, undefined);
}

/** The arguments of a prompt, for people: `<place> [style]`. */
function promptUsage({ arguments: parameters }: Pick<PromptCommand, "arguments">): string {
  return parameters.map(({ name, required }) => (required ? `<${name}>` : `[${name}]`)).join(" ");
}

/** Gets a prompt with the values of a typed command, whose usage is part of the error about its arguments. */
function expandPrompt(
  prompt: PromptCommand,
  words: readonly string[],
  { command, ...options }: ExecuteOptions & { command: string },
): Promise<GetPromptResult> {
  return prompt.expand(promptValues(words, prompt), options).catch((error: unknown) => {
    const failure = asNexusError(error);
    throw failure.code === "ARGUMENTS_INVALID"
      ? failure.amended({ hint: `Usage: ${command} ${promptUsage(prompt)}`.trimEnd() })
      : failure;
  });
}
