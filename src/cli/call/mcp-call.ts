import { quoteWord } from "../../text/shell-words.ts";
import type { CallToolOptions, Client } from "../../client/client.ts";
import { checkResult } from "../../client/schema-check.ts";
import { visible } from "../../text/visible.ts";
import { shownJson } from "../../agent/consent/shown-json.ts";
import type { CallToolResult, Tool } from "../../protocol/mcp.ts";
import { ATTENDING } from "./attended-call.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { ContentPrinter, SavedFiles, type Printing } from "./content.ts";
import { requirePairs } from "../arguments/key-value.ts";
import type { Output } from "../output/output.ts";
import { getCalled, requireAllowedInside, shownByEntry, targetIn } from "../command/entry-rules.ts";
import { SHOWN_META } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import { openNamedCall, SAVE } from "./named-call.ts";
import { requireFitting, toolArguments } from "../arguments/tool-arguments.ts";
import { NexusError } from "../../errors/nexus-error.ts";

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
      const look = () => `nexus mcp tools${servers.wordsFor(definition.id)} --name ${quoteWord(item.name)}`;
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
      await attended.finish();
      return exitCode;
    }
    const result = await once();
    await show(result, tool, { ...context, server: definition.id });
    await attended.finish();
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

interface MeantCall {
  server: string;
  tool: Tool;
  args: unknown;
  /** How often it is called; undefined: once. */
  times: number | undefined;
}

/**
 * Asks a user at the terminal before a destructive tool is called. Without a terminal the caller is a script, which named
 * the tool. Only "y" or "yes" is a yes.
 */
async function isCallWanted(
  { server, tool, args, times = 1 }: MeantCall,
  { out, signal }: Pick<CommandContext, "out" | "signal">,
): Promise<boolean> {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (destructiveHint !== true || readOnlyHint === true) return true;
  out.talkAtTerminal();
  if (!out.isInteractive) return true;
  const name = out.onStderr("bold", visible(tool.name));
  out.note(`The tool ${name} of server ${visible(server)} is destructive: it may delete or overwrite data.`);
  const { askFor } = await import("../output/terminal-questions.ts");
  const { text } = shownJson(args);
  if (text !== "{}") out.note(text);
  const question = times === 1 ? "Call it? y/N" : `Call it ${times} times? y/N`;
  const answer = await askFor(out, { text: question, signal });
  return /^y(?:es)?$/i.test(answer.trim());
}

/** The result of making the same call many times. */
interface Latencies {
  calls: number;
  /** Results with `isError`, errors of the server, timeouts, and calls with unanswered questions. */
  errors: number;
  callsPerSecond: number;
  ms: { min: number; median: number; p90: number; p99: number; max: number; mean: number };
}

export function latenciesOf(
  times: readonly number[],
  { errors, totalMs }: { errors: number; totalMs: number },
): Latencies {
  const sorted = [...times].sort((a, b) => a - b);
  // The nearest rank, so that it is a measured time.
  const rank = (share: number) => rounded(sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? 0);
  const sum = sorted.reduce((total, time) => total + time, 0);
  return {
    calls: times.length,
    errors,
    callsPerSecond: totalMs > 0 ? rounded((times.length * 1_000) / totalMs) : 0,
    ms: {
      min: rank(0),
      median: rank(0.5),
      p90: rank(0.9),
      p99: rank(0.99),
      max: rank(1),
      mean: rounded(sum / Math.max(times.length, 1)),
    },
  };
}

/** The table for people. */
export function latencyTable({ calls, errors, callsPerSecond, ms }: Latencies): string[] {
  const cells = [...Object.entries(ms), ["errors", errors] as const, ["calls/s", callsPerSecond] as const];
  const texts = cells.map(([name, value]) => [name, String(value)] as const);
  const widths = texts.map(([name, value]) => Math.max(name.length, value.length));
  const row = (column: 0 | 1) => texts.map((cell, index) => cell[column].padStart(widths[index] ?? 0)).join("  ");
  return [`${calls} ${calls === 1 ? "call" : "calls"}, sequential; times in ms`, row(0), row(1)];
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** One call after the other. Failures at the server are counted; a lost connection ends it. */
async function measure(
  times: number,
  once: () => Promise<CallToolResult>,
  { out, flags, unanswered }: { out: Output; flags: { verbose: boolean }; unanswered: () => number },
): Promise<number> {
  const ms: number[] = [];
  let errors = 0;
  const startedAt = performance.now();
  for (let done = 0; done < times; done++) {
    const before = performance.now();
    const openBefore = unanswered();
    try {
      const result = await once();
      if (result.isError || unanswered() > openBefore) errors += 1;
      if (done === 0 && flags.verbose) out.note(visible(JSON.stringify(result)));
    } catch (error) {
      if (!(error instanceof NexusError) || (error.code !== "SERVER_ERROR" && error.code !== "TIMEOUT")) throw error;
      errors += 1;
    }
    ms.push(performance.now() - before);
  }
  const latencies = latenciesOf(ms, { errors, totalMs: performance.now() - startedAt });
  if (out.json) out.value(latencies);
  else for (const line of latencyTable(latencies)) out.line(line);
  return errors > 0 ? 5 : 0;
}
