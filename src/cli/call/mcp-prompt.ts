import { quoteWord } from "../../text/shell-words.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { visible } from "../../text/visible.ts";
import type { Client } from "../../client/client.ts";
import type { GetPromptResult, Prompt } from "../../protocol/mcp.ts";
import { ATTENDING } from "./attended-call.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { ContentPrinter, SavedFiles } from "./content.ts";
import { keyValueFromFile, requirePairs } from "../arguments/key-value.ts";
import type { Output } from "../output/output.ts";
import { openNamedCall, SAVE } from "./named-call.ts";

/** nexus mcp prompt demo.postcard --arg place=Vienna */
export const prompt = defineCommand({
  usage: "nexus mcp prompt <server.prompt> [key=value]…",
  description: `
Shows the messages of a prompt with their roles. Arguments are text; key=@file uses the content of a file.
"nexus mcp prompts" lists prompts, "nexus mcp complete" suggests values.`,
  options: {
    arg: {
      type: "string",
      multiple: true,
      value: "key=value",
      help: "an argument of the prompt; same as key=value; repeatable",
    },
    ...SAVE,
    ...ATTENDING,
    ...IN_PLACE,
    ...TENANT,
  },
  examples: [
    ["nexus mcp prompt demo.postcard place=Vienna", "show the messages of the prompt"],
    ["nexus mcp prompt demo.postcard --arg place=Vienna --arg tone=terse --json", "the result as the server sent it"],
    [`nexus mcp prompt review --arg code=@main.ts --stdio "node server.js"`, "read an argument from a file"],
  ],

  async run(context) {
    const { words, options, out, signal, openServers } = context;
    const [name = "", ...pairs] = words;
    const given = [...(options.arg ?? []), ...requirePairs(pairs, "nexus mcp prompt")];
    await using servers = await openServers(asksAnyone);
    const list = (server: Client) => server.listPrompts({ signal });
    const { attended, item: found } = await openNamedCall(name, { kind: "prompt", context, servers, list });
    const { client, saved } = attended;
    const args = saved
      ? (saved.params["arguments"] as Record<string, string> | undefined)
      : await promptArguments(found, given);
    const params = { name: found.name, ...(args ? { arguments: args } : {}) };
    const result = await attended.run({ method: "prompts/get", params }, (call) =>
      client.getPrompt(found.name, args, call),
    );
    if (out.json) out.value(result);
    else await show(result, out, new SavedFiles(options.save, found.name));
    await attended.finish();
  },
});

async function promptArguments(
  { name, arguments: known = [] }: Prompt,
  given: readonly string[],
): Promise<Record<string, string> | undefined> {
  const pairs = await Promise.all(given.map((text) => keyValueFromFile(text, "--arg")));
  const args = Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
  const names = known.map((argument) => argument.name);
  const stranger = Object.keys(args).find((key) => !names.includes(key));
  if (stranger !== undefined) {
    const near = nearestName(stranger, names);
    const takes = names.length === 0 ? "It has no arguments." : `Its arguments: ${names.join(", ")}.`;
    throw wrongUsage(
      `Prompt "${name}" has no argument "${stranger}"`,
      near === undefined ? takes : `Did you mean "${near}"? ${takes}`,
    );
  }
  const missing = known.filter((argument) => argument.required && !Object.hasOwn(args, argument.name));
  if (missing.length > 0) {
    const texts = missing.map(({ name: needed, description }) =>
      description === undefined ? needed : `${needed} (${description})`,
    );
    throw wrongUsage(
      `Prompt "${name}" needs ${texts.join(", ")}`,
      `Add: ${missing.map(({ name: needed }) => `--arg ${quoteWord(needed)}=…`).join(" ")}`,
    );
  }
  return pairs.length === 0 ? undefined : args;
}

async function show({ description, messages }: GetPromptResult, out: Output, files: SavedFiles): Promise<void> {
  const printer = new ContentPrinter(out, files);
  if (typeof description === "string") out.note(out.onStderr("dim", visible(description)));
  if (!Array.isArray(messages) || messages.length === 0) return out.note("The prompt has no messages.");
  for (const [index, { role, content }] of messages.entries()) {
    if (index > 0) out.line();
    out.line(out.style("bold", `${visible(role)}:`));
    // The specification has one block; some servers send several.
    for (const block of [content].flat()) await printer.block(block);
  }
}
