import { Host } from "../../../host/host.ts";
import { SILENT } from "../../../text/logger.ts";
import { visible } from "../../../text/visible.ts";
import { openDraft } from "../../../workshop/open-api.ts";
import { CHAT_OPTIONS, requireSound } from "../../chat/chat-options.ts";
import { chatContent } from "../../chat/chat-content.ts";
import { openChatModels } from "../../chat/chat-models.ts";
import { ChatServers } from "../../chat/chat-servers.ts";
import { requireKnownServers } from "../../chat/tool-patterns.ts";
import { runChat, type ChatSetting } from "../../chat/run-chat.ts";
import { defineCommand } from "../../command/command.ts";
import { verboseLogger } from "../../output/verbose-logger.ts";
import { loadSound } from "../loaded.ts";

/** nexus api try capcorn */
export const apiTry = defineCommand({
  usage: "nexus api try <api> [-p TEXT] [--model provider:model]",
  description: `
Opens a chat on the tools of one tool file, with a fake of its API behind them. The file need not be approved, no
credentials are needed, and only the fake is reached: this is where you see whether a model understands the tools. Tools
that write ask before they run, as in "nexus chat". The fake forgets everything at the end, and the chat is not saved.`,
  options: CHAT_OPTIONS,
  examples: [
    ["nexus api try capcorn", "talk with a model that can use the hotel's tools"],
    [`nexus api try ./shop.nexus.yaml -p "What does a red bicycle cost?"`, "one answer"],
  ],

  async run(context) {
    const { words, options, out, flags, surroundings, stateFolder } = context;
    requireSound(options);
    const { api, file, documents } = await loadSound(words[0] ?? "", out, surroundings.home);
    if (!file) return;
    requireKnownServers(options, [file.api]);
    await using models = await openChatModels(context);
    const model = await models.resolve(options.model);
    const content = await chatContent(context);
    const logger = flags.verbose ? verboseLogger(out) : SILENT;
    const server = openDraft({ api, file, documents }, { surroundings, stateFolder, logger });
    const { deny, "read-only": readOnly } = options;
    const openServers: ChatSetting["openServers"] = async (input) => {
      const host = await Host.start(
        {
          servers: { [file.api]: server },
          policy: { deny, readOnly },
          stateFolder,
          input,
          logger,
          timeoutMs: flags.timeoutMs,
        },
        surroundings,
      );
      const definitions = host.servers().map(({ definition }) => definition);
      return new ChatServers(host, definitions, { stateFolder, close: async () => {} });
    };
    out.note(`Calls of ${visible(file.title)} go to its fake, not to ${visible(file.upstream.base)}.`);
    return runChat({ context, openServers, models, model, content });
  },
});
