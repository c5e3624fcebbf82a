import { quoteWord } from "../../text/shell-words.ts";
import type { CallToolOptions, Client } from "../../client/client.ts";
import { checkResult } from "../../client/schema-check.ts";
import { visible } from "../../text/visible.ts";
import type { CallToolResult, Tool } from "../../protocol/mcp.ts";
import { requireFitting } from "../arguments/argument-check.ts";
import { ATTENDING } from "./attended-call.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { ContentPrinter, type Printing } from "./content.ts";
import { requirePairs } from "../arguments/key-value.ts";
import type { Output } from "../output/output.ts";
import { getCalled, requireAllowedInside, shownByEntry, targetIn } from "../command/entry-rules.ts";
import { SHOWN_META } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import { openNamedCall, SAVE } from "./named-call.ts";
import { isCallWanted } from "./destructive-call.ts";
import { measure } from "./repeat.ts";
import { SavedFiles } from "./saved-files.ts";
import { toolArguments } from "../arguments/tool-arguments.ts";

const DESCRIPTION = `
--arg values are converted to the types of the tool's schema: numbers, true and false, JSON if the value starts with [ or {.
Repeat a key for an array, use a.b=c for a property of an object, and key=@file for the content of a text file
(key=@@x for a text that starts with @). Arguments are checked before anything is sent.

Text is printed; images, audio and other files are saved, and their names are printed.
Questions of the server are asked at the terminal. Without a terminal, use --answer: name=Ada, url=accept, form=decline,
or QUESTION.name=Ada if several questions ask for a name. Each --answer is used for one question.
At a terminal, Nexus asks before it calls a tool that is annotated as destructive. "No" exits with code 8; --yes does not ask.
If an answer is missing, the call of a modern server is kept, and the output shows how to continue it (exit code 9).`;

/** nexus mcp call github.search --arg query="is:open" */
export const call = defineCommand({
  usage: "nexus mcp call <server.tool> [key=value]… [--args JSON|@file|-] [--answer key=value]…",
  description: DESCRIPTION,
  words: { min: 1, max: Infinity },
  options: {
    arg: {
      type: "string",
      multiple: true,
      value: "key=value",
      help: "an argument, converted to the type in the tool's schema; same as key=value; repeatable",
    },
    args: { type: "string", value: "JSON|@file|-", help: "all arguments as a JSON object; - reads stdin" },
    "no-validate": { type: "boolean", help: "send the arguments without checking them" },
    ...SAVE,
    task: { type: "boolean", help: "run the call as a task, and wait for its result" },
    repeat: { type: "string", value: "N", help: "call the tool N times and show the latencies" },
    ...ATTENDING,
    ...IN_PLACE,
    ...TENANT,
  },
  examples: [
    ["nexus mcp call demo.add a=2 b=3.5", "a and b are numbers in the tool's schema"],
    [`nexus mcp call github.search --args '{"query": "is:open"}' --json`, "the result as the server sent it"],
    ["nexus mcp call demo.ask_name --answer name=Ada", "answer the tool's question in advance"],
    ["nexus mcp call demo.echo --arg text=hi --repeat 100", "print a table of latencies"],
    [`nexus mcp call echo --arg text=hi --stdio "node server.js"`, "a server that is not configured"],
  ],

  async run(context) {
    const { words, options, out, signal, openServers } = context;
    const [name = "", ...pairs] = words;
    const given = { ...options, arg: [...(options.arg ?? []), ...requirePairs(pairs, "nexus mcp call")] };
    const times = repetitions(options.repeat);
    await using servers = await openServers(asksAnyone);
    const list = (server: Client) => server.listTools({ signal });
    const { definition, attended, item, items } = await openNamedCall(name, {
      kind: "tool",
      context,
      servers,
      list,
      targetOf: (tool, of) => targetIn(of.definition, of.client, of.items, tool),
    });
    const { client, saved } = attended;
    const asked = saved ? saved.params["arguments"] : await toolArguments(given, item.inputSchema);
    await requireAllowedInside(servers, definition, item, asked);
    if (!saved && !options["no-validate"]) {
      const look = `nexus mcp tools${servers.wordsFor(definition.id)} --name ${quoteWord(item.name)}`;
      await requireFitting(item, asked as Record<string, unknown>, { out, look });
    }
    const listing = { definition, client, items };
    const { tool, arguments: args } = await getCalled(servers, listing, { tool: item, arguments: asked });
    const shown = isSearching(item) ? shownByEntry(servers, listing) : undefined;
    const meta = shown && { [SHOWN_META]: shown };

    const isWanted = options.yes || (await isCallWanted({ server: definition.id, tool, args, times }, context));
    if (!isWanted) {
      out.note("The tool was not called.");
      return 8;
    }

    const params = { name: tool.name, arguments: args };
    const send = (call: CallToolOptions) =>
      client.callTool(tool.name, args as object, {
        ...call,
        ...(meta && { meta }),
        ...(options.task && { task: true }),
      });
    const once = () => attended.run({ method: "tools/call", params }, send);
    if (times !== undefined) {
      const exitCode = await measure(times, once, { ...context, unanswered: () => attended.unanswered });
      attended.finish();
      return exitCode;
    }
    const result = await once();
    await show(result, tool, { ...context, server: definition.id });
    attended.finish();
    return result.isError ? 5 : 0;
  },
});

/** For files that are saved in addition to JSON output. */
const QUIET: Printing = { columns: undefined, line() {}, note() {}, style: (_style, text) => text };

interface ResultOptions {
  out: Output;
  server: string;
  options: { save?: string | undefined; "no-validate"?: boolean | undefined };
}

async function show(result: CallToolResult, tool: Tool, { out, server, options }: ResultOptions): Promise<void> {
  const files = new SavedFiles(options.save, tool.name);
  if (out.json) {
    out.value(result);
    if (options.save !== undefined) await new ContentPrinter(QUIET, files).toolResult(result);
    return;
  }
  await new ContentPrinter(out, files).toolResult(result);
  if (result.isError) {
    const title = `the tool "${visible(tool.name)}" of server "${visible(server)}"`;
    out.note(`${out.onStderr("red", "nexus:")} ${title} reported an error`);
  }
  const promised = options["no-validate"] ? undefined : await checkResult(tool, result);
  if (promised?.kind !== "invalid") return;
  const wrong = promised.problems[0]?.message ?? "";
  out.note(
    `${out.onStderr("yellow", "warning:")} the result does not match the tool's output schema: ${visible(wrong)}`,
  );
}

function repetitions(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const times = Number(text);
  if (Number.isInteger(times) && times > 0) return times;
  throw wrongUsage(`--repeat "${text}" is not a positive whole number`, "Use --repeat 100.");
}
