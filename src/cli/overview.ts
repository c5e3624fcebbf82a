import { VERSION } from "../protocol/version.ts";
import { listedCommands } from "./catalog.ts";

const START = [
  "",
  "Start here:",
  "  nexus demo                        a server to try, with everything it offers",
  "  nexus mcp import                  take over the servers that your other programs have configured",
  "  nexus mcp add NAME -- COMMAND …   add a server; then: nexus mcp tools NAME",
  "  nexus serve                       offer all of them to other programs at one address",
];

/** What `nexus --help` says; of a group, `nexus mcp --help`. */
export function overview(group = ""): string {
  const listed = listedCommands().filter(([name]) => group === "" || name.startsWith(`${group} `));
  const width = Math.max(...listed.map(([name]) => name.length));
  const sections = new Map<string, string[]>();
  for (const [name, { section, summary }] of listed) {
    sections.set(section, [...(sections.get(section) ?? []), `  ${name.padEnd(width)}  ${summary}`]);
  }
  const lines = [
    `nexus ${VERSION} – one program for Model Context Protocol servers of every revision`,
    "",
    `Usage: nexus ${group === "" ? "<command>" : `${group} <command>`} [options]`,
    ...(group === "" ? START : []),
    ...[...sections].flatMap(([section, commands]) => ["", `${section}:`, ...commands]),
    "",
    `"nexus <command> --help" shows what a command takes, with examples. Every command takes --json, --config FILE,`,
    "--timeout 30s, --verbose, --no-color and --trust.",
    "",
  ];
  return lines.join("\n");
}
