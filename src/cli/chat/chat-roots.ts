import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ChatState } from "./chat-state.ts";
import { serverIds, usedServerIn } from "./server-names.ts";
import type { SlashCommand } from "./slash-command.ts";

/** Looks at the roots of servers and replaces them. */
export const ROOTS_COMMAND: SlashCommand = {
  name: "/roots",
  usage: "[server] [folder]…",
  help: "show the folders that servers may ask for, or replace them for this chat",
  words: { min: 0, max: Infinity },
  run: changeRoots,
  complete: (words, state) => (words.length === 1 ? serverIds(state) : []),
};

/** Of one server if the first word names it, otherwise of all. */
async function changeRoots(words: readonly string[], state: ChatState): Promise<void> {
  const { screen, servers } = state;
  const [first = "", ...others] = words;
  const isOfOne = serverIds(state).includes(first);
  const folders = isOfOne ? others : words;
  for (const folder of folders) {
    if (!folder.startsWith("file:") && !existsSync(toFolder(folder))) throw noFolder(folder);
  }
  if (folders.length > 0)
    await servers.host.setRoots(folders.map(toFolder), isOfOne ? usedServerIn(state, first) : undefined);
  for (const id of isOfOne ? [first] : serverIds(state)) {
    if (!servers.host.find(id)) continue;
    const roots = servers.host.rootsOf(id).map(({ uri }) => visible(uri));
    screen.labelled("bold", `${id}:`, roots.length === 0 ? "no roots" : roots.join(", "));
  }
}

function toFolder(written: string): string {
  return written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
}

function noFolder(folder: string): NexusError {
  return wrongUsage(`There is no folder "${folder}"`, "Name a server and folders that exist: /roots files ../shop");
}
