import { join } from "node:path";
import { lastLines, timedLine } from "../../host/server-log-reader.ts";
import { promptCommands, type PromptCommand } from "../../host/registry.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { pluralize } from "../output/amounts.ts";
import { CHAT_AGENT, type ChatState } from "./chat-state.ts";
import { chatStateWords } from "./chat-state-words.ts";
import { expandPrompt, promptText } from "./prompt-parts.ts";
import { connectedServerIn, requireUsedServer, serverIds, serverIn, usedServerIn } from "./server-names.ts";
import type { SlashCommand } from "./slash-command.ts";

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
export function unlessKnown(
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
