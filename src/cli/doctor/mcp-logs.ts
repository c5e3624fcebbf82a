import { join } from "node:path";
import { visible } from "../../text/visible.ts";
import { defineCommand, SERVED, type CommandContext } from "../command/command.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import type { ElsewhereContext } from "../gateway/servers.ts";
import type { Output } from "../output/output.ts";
import { followLog, lastLines, timedLine } from "../../host/server-log-reader.ts";

const DEFAULT_LINES = "50";
/** The most that the REST API answers. */
const MAX_REMOTE = 5000;

/** nexus mcp logs github --follow */
export const logs = defineCommand({
  usage: "nexus mcp logs <server> [--lines N] [--follow]",
  description: `
Servers that Nexus starts as programs log to stderr. Nexus keeps the last one or two megabytes of each, from all commands
that used it, with the time of each line. Servers at a URL keep their own logs.`,
  options: {
    lines: { type: "string", short: "n", value: "N", help: `number of lines to show; default: ${DEFAULT_LINES}` },
    follow: { type: "boolean", short: "f", help: "keep showing new lines until Ctrl-C" },
    ...SERVED,
  },
  examples: [
    ["nexus mcp logs github", `show the last ${DEFAULT_LINES} lines of the server`],
    ["nexus mcp logs github --lines 500 | grep -i error", "search older lines"],
    ["nexus mcp logs github --follow", "watch the server while another terminal uses it"],
    [
      "nexus mcp logs github --gateway https://gateway.example",
      "at this gateway, with the key of an operator in NEXUS_KEY",
    ],
    ["nexus mcp logs github --json", "one object: {server, file, lines, times}; a time is null if it is not known"],
    ["nexus mcp logs github --follow --json", "print one JSON object per line: {server, line, time}"],
  ],

  async run(context) {
    const { words, options, out, signal, openServers } = context;
    const shown = (text: string) => shownLine(out, timedLine(text));
    const count = countOf(options.lines ?? DEFAULT_LINES);
    if (isElsewhere(context)) return showRemote(context, count);
    await using servers = await openServers();
    const { definition } = servers.pickFirst(words);
    const { id: server, entry } = definition;
    const file = join(servers.stateFolder, "logs", `${server}.log`);
    const { lines, end } = await lastLines(file, count);

    if (options.follow) {
      const show = (text: string) => {
        if (!out.json) return out.line(shown(text));
        const { line, time } = timedLine(text);
        out.value({ server, line, ...(time === undefined ? {} : { time }) });
      };
      for (const line of lines) show(line);
      out.note(out.onStderr("dim", `following ${file}; press Ctrl-C to stop`));
      await followLog(file, { from: end, onLine: show, signal });
      return;
    }
    if (out.json) {
      const timed = lines.map(timedLine);
      const times = timed.map(({ time }) => time ?? null);
      return out.value({ server, file, lines: timed.map(({ line }) => line), times });
    }
    for (const text of lines) out.line(shown(text));
    if (lines.length > 0 || count === 0) return;
    out.note(`Nexus has no stderr output of "${server}" yet (${file}).`);
    out.note(
      entry?.reach.kind === "api"
        ? "This server comes from a tool file and runs inside Nexus. Use --verbose to see what it does."
        : entry && entry.reach.kind !== "stdio"
          ? "This server is at a URL. Its log is on the machine where it runs."
          : `Use the server once: nexus mcp connect ${server}. Some servers log only if a variable such as DEBUG is set.`,
    );
  },
});

type RemoteContext = ElsewhereContext & CommandContext<{ readonly follow?: boolean | undefined }>;

async function showRemote(context: RemoteContext, count: number): Promise<void> {
  const { out, options } = context;
  if (options.follow) throw wrongUsage("--follow does not work with --gateway", "Ask again for the newest lines.");
  if (count < 1 || count > MAX_REMOTE) {
    throw wrongUsage(`--lines "${count}" is not possible with --gateway`, `Use 1 to ${MAX_REMOTE} lines.`);
  }
  const [{ idIn, openServers }, { SERVERS }] = await Promise.all([
    import("../gateway/servers.ts"),
    import("../../operations/servers.ts"),
  ]);
  await using opened = await openServers(context);
  const { client, tenant } = opened;
  const server = idIn(context);
  const { lines } = await client.call(SERVERS.getServerLog, { tenant, id: server, lines: count });
  if (out.json) {
    return out.value({ server, lines: lines.map(({ line }) => line), times: lines.map(({ time }) => time) });
  }
  for (const { line, time } of lines) out.line(shownLine(out, { line, time: time ?? undefined }));
  if (lines.length === 0)
    out.note(`The gateway has no stderr output of "${server}" yet. Servers at a URL keep their own logs.`);
}

function shownLine(out: Output, { line, time }: { line: string; time?: string | undefined }): string {
  return time === undefined ? visible(line) : `${out.style("dim", localTime(new Date(time)))} ${visible(line)}`;
}

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongUsage(`--lines "${text}" is not a number of lines`, "Use --lines 100.");
}

/** `2026-11-16 06:54:33`, in the time zone of the reader. */
function localTime(at: Date): string {
  const minutes = at.getTime() / 60_000 - at.getTimezoneOffset();
  return new Date(minutes * 60_000).toISOString().slice(0, 19).replace("T", " ");
}
