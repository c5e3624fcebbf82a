import { join } from "node:path";
import { ChatSessions } from "../../agent/sessions/chat-sessions.ts";
import type { SavedSession } from "../../agent/sessions/saved-session.ts";
import { findContextSetting } from "../../config/context-setting.ts";
import { asNexusError, type NexusError, type ErrorSource } from "../../errors/nexus-error.ts";
import { agoText, isoTime } from "../../text/duration.ts";
import { visible } from "../../text/visible.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, TENANT, asksAnyone, type Options, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Output } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { chatContent } from "./chat-content.ts";
import { unreadableText } from "./chat-commands.ts";
import { openChatModels } from "./chat-models.ts";
import { requireSound, CHAT_OPTIONS } from "./chat-options.ts";
import type { ChatModels } from "./chat-state.ts";
import { runChat, type ChatSetting } from "./run-chat.ts";
import type { HostOptions } from "../../host/host-options.ts";
import { requireKnownServers, type ToolPatterns } from "./tool-patterns.ts";
import { ChatServers } from "./chat-servers.ts";
import { TenantState } from "../store/tenant-state.ts";
import { ServerSet } from "../command/server-set.ts";
import { LazyLedger } from "../../host/definitions/lazy-ledger.ts";
import { Host } from "../../host/host.ts";
import { loggerFrom, SILENT } from "../../text/logger.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { within } from "../../async/within.ts";

/** How long the end of a chat waits for the database, where lists are compared that nobody has to wait for. */
const COMPARE_MS = 2_000;

/** Those of `nexus chat`, which uses configured servers and saves what is said. */
const CONFIGURED_CHAT_OPTIONS = {
  ...CHAT_OPTIONS,
  server: { type: "string", multiple: true, value: "ID", help: "use only this server; repeatable" },
  resume: { type: "string", optional: true, value: "[ID]", help: "continue a saved chat; without ID the newest one" },
  list: { type: "boolean", help: "list the saved chats" },
  ...TENANT,
} as const satisfies Options;

/** nexus chat */
export const chat = defineCommand({
  usage: "nexus chat [-p TEXT] [--model provider:model] [--server ID]… [--resume [ID]]",
  description: `
Talks with a model that uses the tools of your servers. Tools that are annotated as read-only run by themselves; before
any other tool runs, you see its arguments and are asked: y allows it once, s for this session, a always for this
tool, n denies it. --yes and --allow do not ask. Without a terminal such calls are denied.

With -p it answers once and ends. Piped text is added: cat error.log | nexus chat -p "What failed?". Without -p and without
a terminal, stdin is the message. In a pipe, only the last answer is printed, as Markdown.

Chats are saved after each turn. /help lists the commands of the chat. Ctrl-C stops an answer and cancels its calls;
pressed twice it ends the program.`,
  options: CONFIGURED_CHAT_OPTIONS,
  examples: [
    ["nexus chat", "talk with the default model, with all servers"],
    [`nexus chat -p "Which files changed today?" --server files`, "one answer, with one server"],
    [`nexus chat -p "Clean up" --allow 'files.move*' --json`, `{"text","steps","usage","cost","session","stopReason"}`],
    ["nexus chat --resume", "continue the newest chat"],
    ["nexus chat --list", "list the saved chats"],
  ],

  async run(context) {
    const { options, out, surroundings, stateFolder, flags } = context;
    requireSound(options);
    if (options.list && (options.prompt !== undefined || options.resume !== undefined)) {
      throw wrongUsage("--list only lists the saved chats", "Use it without -p and --resume.");
    }
    const { home, platform, variables } = surroundings;
    const sessions = new ChatSessions({ folder: join(stateFolder, "chats"), platform });
    if (options.list) return showChats(sessions, out);
    const resumed = options.resume === undefined ? undefined : await findChat(sessions, options.resume, out);
    await using models = await openChatModels(context);
    const model = await chosenModel(models, options.model, resumed);
    const content = await chatContent(context);
    const resources = await findContextSetting({ cwd: process.cwd(), home, platform, variables }, flags.config);
    const { deny, "read-only": readOnly } = options;
    const wanted = { only: options.server, policy: { deny, readOnly }, patterns: options };
    const openServers: ChatSetting["openServers"] = (input) => openChatServers(context, { ...wanted, input });
    return runChat({
      context,
      openServers,
      models,
      model,
      content,
      sessions,
      resumed,
      resources,
      named: options.server,
    });
  },
});

async function findChat(sessions: ChatSessions, id: string, out: Output): Promise<SavedSession> {
  if (id !== "") return sessions.get(id);
  const unreadable: NexusError[] = [];
  const newest = await sessions.getNewest((error) => unreadable.push(error));
  for (const error of unreadable)
    out.warn(visible(`${unreadableText(error)}. Chat "${newest.id}" is continued instead.`));
  return newest;
}

/** In the list, for chats of older versions that no model answered. */
const NO_MODEL = "no model";

/** A resumed chat goes on with its model. */
function chosenModel(models: ChatModels, given: string | undefined, resumed: SavedSession | undefined) {
  const before = resumed?.model === "" ? undefined : resumed?.model;
  return models.resolve(given ?? before).catch((error: unknown) => {
    if (given !== undefined || before === undefined) throw error;
    const failure = asNexusError(error);
    const hint = `${failure.hint ?? ""} To continue with another model: --model provider:model.`.trim();
    throw failure.amended({ hint });
  });
}

async function showChats(sessions: ChatSessions, out: Output): Promise<void> {
  const unreadable: NexusError[] = [];
  const saved = await sessions.list((error) => unreadable.push(error));
  if (out.json) {
    const items = saved.map(({ id, title, model, createdAt, updatedAt, usage, messages }) => ({
      id,
      title,
      model,
      createdAt: isoTime(createdAt),
      updatedAt: isoTime(updatedAt),
      usage,
      messages: messages.length,
    }));
    return out.value({ items, errors: failuresForPrograms(unreadable) });
  }
  for (const error of unreadable) out.warn(visible(unreadableText(error)));
  if (saved.length === 0) return out.note("There are no saved chats. Start one: nexus chat");
  const rows = saved.map(({ id, title, model, updatedAt }) =>
    [id, agoText(updatedAt), visible(model || NO_MODEL), visible(title)].map((text) => ({ text })),
  );
  showTable(out, rows);
}

interface Wanted extends Pick<HostOptions, "policy" | "input"> {
  only?: readonly string[] | undefined;
  patterns: ToolPatterns;
}

/** The configured and published servers, as other commands see them. Those that do not start do not stop the chat. */
async function openChatServers(context: CommandContext<object>, wanted: Wanted): Promise<ChatServers> {
  const { flags, out, surroundings, words, options } = context;
  const source = new TenantState(context);
  const values = { ...options };
  const servers = await ServerSet.open({ surroundings, source, flags, words, values, out }, asksAnyone);
  try {
    const { configuration } = servers;
    for (const { message, details } of servers.fileProblems) warn(out, message, details.source);
    for (const { message, source: place } of configuration.warnings) warn(out, message, place);
    const ids = configuration.servers.map(({ id }) => id);
    requireKnownServers(wanted.patterns, ids);
    const only = wanted.only?.map((name) => servers.get(name).id);
    const definitions = configuration.servers.filter(({ id }) => only?.includes(id) ?? true);
    const { tenant, stateFolder, secrets, trust: trustStore, eras: eraCache, openApi } = source;
    const ledger = new LazyLedger(() => source.openLedger(), { keepsUnpinned: source.keepsDefinitions });
    const host = await Host.start(
      {
        servers: {},
        tenant,
        stateFolder,
        secrets,
        trustStore,
        eraCache,
        openApi,
        definitions: ledger,
        trust: flags.trust,
        timeoutMs: flags.timeoutMs,
        policy: wanted.policy,
        roots: [process.cwd()],
        input: wanted.input,
        logger: flags.verbose ? loggerFrom(verboseLogger(out), "debug") : SILENT,
      },
      surroundings,
    );
    await host.setServers(definitions).catch(async (error: unknown) => {
      await host.close();
      throw error;
    });
    const close = async () => {
      const comparing = Promise.all(definitions.map(async ({ id }) => host.pins.settled(id)));
      await within(comparing, COMPARE_MS);
      await ledger[Symbol.asyncDispose]();
      await servers.close();
    };
    return new ChatServers(host, definitions, { stateFolder, close });
  } catch (error) {
    await servers.close();
    throw error;
  }
}

function warn(out: Output, message: string, source: ErrorSource | undefined): void {
  const place = source ? ` (${[source.file, source.line].filter((part) => part !== undefined).join(":")})` : "";
  out.warn(`${visible(`${message}${place}`)}`);
}
