import type { CommandContext } from "../command/command.ts";
import { openModelCatalog } from "../models/open-catalog.ts";
import type { ChatModels } from "./chat-state.ts";

/** The models of the configuration and the environment, with the time limit of the command line. */
export async function openChatModels(context: CommandContext<object>): Promise<ChatModels & AsyncDisposable> {
  const catalog = await openModelCatalog(context);
  const { timeoutMs } = context.flags;
  const listed = catalog.providers.flatMap(({ name, models }) => models.map((model) => `${name}:${model}`));
  return {
    names: [...new Set([...(catalog.defaultModel === undefined ? [] : [catalog.defaultModel]), ...listed])],
    resolve: (name) => catalog.open(name, { timeoutMs }),
    [Symbol.asyncDispose]: () => catalog.close(),
  };
}
