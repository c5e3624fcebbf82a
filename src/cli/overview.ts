import { VERSION } from "../protocol/version.ts";
import { listedCommands } from "./catalog.ts";

const START = [
  "",
  "Start here:",
  "  nexus demo                        connect to the demo server and show its features",
  "  nexus mcp import                  import the servers of your other programs",
  "  nexus mcp add NAME -- COMMAND …   add a server; then: nexus mcp tools NAME",
  "  nexus serve                       offer all servers to other programs at one address",
];

/** The text of `nexus --help`, or of a group, `nexus mcp --help`. */
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
    `"nexus <command> --help" shows options and examples. All commands accept --json, --config FILE,`,
    "--timeout 30s, --verbose, --no-color and --trust.",
    "",
  ];
  return lines.join("\n");
}
