import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
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
    resolve: async (name) => {
      try {
        return await catalog.open(name, { timeoutMs });
      } catch (error) {
        throw context.out.json ? withExample(asNexusError(error)) : error;
      }
    },
    [Symbol.asyncDispose]: () => catalog.close(),
  };
}

/** Programs get no example beside the hint, so it is part of it. */
function withExample(error: NexusError): NexusError {
  const { snippet, hint = "" } = error.details;
  return snippet === undefined ? error : error.amended({ hint: `${hint} For example: ${snippet}`.trim() });
}
