import { join } from "node:path";
import { visible } from "../../text/visible.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { followLog, lastLines, timedLine } from "../../host/server-log-reader.ts";

const DEFAULT_LINES = "50";

/** nexus mcp logs github --follow */
export const logs = defineCommand({
  usage: "nexus mcp logs <server> [--lines N] [--follow]",
  description: `
Servers that Nexus starts as programs log to stderr. Nexus keeps the last one or two megabytes of each, from all commands
that used it, with the time of each line. Servers at a URL keep their own logs.`,
  words: { min: 1, max: 1 },
  options: {
    lines: { type: "string", short: "n", value: "N", help: `number of lines to show; default: ${DEFAULT_LINES}` },
    follow: { type: "boolean", short: "f", help: "keep showing new lines until Ctrl-C" },
    ...TENANT,
  },
  examples: [
    ["nexus mcp logs github", `show the last ${DEFAULT_LINES} lines of the server`],
    ["nexus mcp logs github --lines 500 | grep -i error", "search older lines"],
    ["nexus mcp logs github --follow", "watch the server while another terminal uses it"],
    ["nexus mcp logs github --json", "one object: {server, file, lines, times}; a time is null if it is not known"],
    ["nexus mcp logs github --follow --json", "print one JSON object per line: {server, line, time}"],
  ],

  async run({ words, options, out, signal, openServers }) {
    const shown = (text: string) => {
      const { line, time } = timedLine(text);
      return time === undefined ? visible(line) : `${out.style("dim", localTime(new Date(time)))} ${visible(line)}`;
    };
    const count = countOf(options.lines ?? DEFAULT_LINES);
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

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongUsage(`--lines "${text}" is not a number of lines`, "Use --lines 100.");
}

/** `2026-11-16 06:54:33`, in the time zone of the reader. */
function localTime(at: Date): string {
  const minutes = at.getTime() / 60_000 - at.getTimezoneOffset();
  return new Date(minutes * 60_000).toISOString().slice(0, 19).replace("T", " ");
}
