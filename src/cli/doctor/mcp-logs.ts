import { join } from "node:path";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { followLog, lastLines } from "./server-log-reader.ts";

const DEFAULT_LINES = "50";

/** nexus mcp logs github --follow */
export const logs = defineCommand({
  usage: "nexus mcp logs <server> [--lines N] [--follow]",
  description: `
Servers that are started as programs log to stderr. Nexus keeps what they write, from every command that used them:
the last megabyte or two. Servers that are reached by URL keep their own logs.`,
  words: { min: 1, max: 1 },
  options: {
    lines: { type: "string", short: "n", value: "N", help: `how many lines to show, ${DEFAULT_LINES} unless given` },
    follow: { type: "boolean", short: "f", help: "go on showing what is written, until Ctrl-C" },
  },
  examples: [
    ["nexus mcp logs github", `the last ${DEFAULT_LINES} lines that the server wrote`],
    ["nexus mcp logs github --lines 500 | grep -i error", "look further back"],
    ["nexus mcp logs github --follow", "watch it while another terminal uses it"],
    ["nexus mcp logs github --follow --json", "one JSON object a line: {server, line}"],
  ],

  async run({ words, options, out, signal, stateFolder, openServers }) {
    const count = countOf(options.lines ?? DEFAULT_LINES);
    await using servers = await openServers();
    const { definition } = servers.pickFirst(words);
    const { id: server, entry } = definition;
    const file = join(stateFolder, "logs", `${server}.log`);
    const { lines, end } = await lastLines(file, count);

    if (options.follow) {
      const show = (line: string) => (out.json ? out.value({ server, line }) : out.line(visible(line)));
      for (const line of lines) show(line);
      out.note(out.onStderr("dim", `following ${file}, Ctrl-C ends`));
      await followLog(file, { from: end, onLine: show, signal });
      return;
    }
    if (out.json) return out.value({ server, file, lines });
    for (const line of lines) out.line(visible(line));
    if (lines.length > 0 || count === 0) return;
    out.note(`"${server}" has written nothing to stderr yet, as far as Nexus has seen (${file}).`);
    out.note(
      entry?.reach.kind === "api"
        ? "It is made of a tool file, and runs inside of Nexus: --verbose shows what it does."
        : entry && entry.reach.kind !== "stdio"
          ? "It is reached by URL: its log is where it runs."
          : `Use it once to get something: nexus mcp connect ${server}. Some servers log only when a variable such as DEBUG tells them to.`,
    );
  },
});

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongUsage(`--lines ${text} is no number of lines`, "Write --lines 100.");
}
