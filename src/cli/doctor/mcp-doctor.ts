import { SILENT } from "../../text/logger.ts";
import type { ConfigFile } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { maskCommand } from "../../text/mask-secrets.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { SERVERS_AT_ONCE } from "../command/ask-servers.ts";
import { defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { toFailedFinding, TITLES, type Check } from "./check.ts";
import type { Examined } from "./checkup.ts";
import { examine } from "./examine.ts";
import { briefLine, reportLines, summaryLine, type Sheet } from "./report.ts";
import { exitCodeOf } from "../output/exit-codes.ts";
import { inPlaceEntry } from "../command/in-place.ts";
import { MANY_SERVERS } from "../look/list-command.ts";
import { mapConcurrently } from "../../async/map-concurrently.ts";
import { verboseLogger } from "../output/verbose-logger.ts";

/** nexus mcp doctor github */
export const doctor = defineCommand({
  usage: "nexus mcp doctor [server] [--problems] [--details]",
  description: `
Checks one or all servers, from the configuration entry to the end of the process, and shows for each check what was found
and how to fix it: configuration, trust, variables (names only), command or network, start, stdout, protocol, capabilities,
lists, schemas and their support by model providers, latency, shutdown. For a tool file, it also checks the addresses and
whether the secrets are stored. No tool is called.

Exit code 0 if nothing failed (warnings do not count), otherwise the code of the failure, or 4 for several different
failures. With more than five servers, those without problems are one line each; --details shows every check, --problems
shows only servers with a warning or a failure.`,
  words: { min: 0, max: 1 },
  options: {
    problems: { type: "boolean", help: "show only servers with a warning or a failure" },
    details: { type: "boolean", help: "show every check of every server" },
    ...IN_PLACE,
    ...TENANT,
  },
  examples: [
    ["nexus mcp doctor", "check all configured servers"],
    ["nexus mcp doctor --problems", "show only servers with a warning or a failure"],
    ["nexus mcp doctor github", "check one server"],
    ["nexus mcp doctor github --timeout 5s", "do not wait long for a server that hangs"],
    [`nexus mcp doctor --stdio "node server.js"`, "check a server that is not configured yet"],
    ["nexus mcp doctor --url https://example.com/mcp", "check a server at a URL, including DNS, TCP, TLS and HTTP"],
    [
      `nexus mcp doctor --json | jq '.servers[].checks[] | select(.verdict == "failed")'`,
      "print the failed checks as JSON",
    ],
  ],

  async run({ words: [id], options, flags, out, signal, surroundings, openServers }) {
    await using servers = await openServers({ asksFor: (server) => id === undefined || server === id });
    if (servers.inPlace && id !== undefined) {
      throw wrongUsage(
        `"${id}" cannot be used together with --stdio or --url`,
        "Name a configured server, or use --stdio or --url.",
      );
    }
    const { files, servers: all } = servers.configuration;
    const named = id !== undefined || servers.inPlace !== undefined;
    const chosen = named ? servers.pick(id) : all;
    const broken = named ? [] : files.filter(({ problem }) => problem !== undefined);
    const sheet: Sheet = {
      style: (style, text) => out.style(style, text),
      typed: (text) => out.typed(text),
      columns: out.columns,
    };
    const isBrief = chosen.length >= MANY_SERVERS && !options.details;
    const show = (result: Examined, title: string) => {
      const hasProblem = result.verdict === "failed" || result.verdict === "warning";
      if (out.json || (options.problems && !hasProblem)) return;
      const lines =
        isBrief && !hasProblem ? [briefLine(result, title, sheet)] : [...reportLines(result, title, sheet), ""];
      for (const line of lines) out.line(line);
    };
    for (const file of broken) show(brokenFile(file), `${file.layer} configuration`);

    const logger = flags.verbose ? verboseLogger(out) : SILENT;
    const { timeoutMs } = flags;
    // With --verbose, the log has it.
    const onTrouble = flags.verbose ? undefined : (message: string) => out.note(out.onStderr("dim", message));
    const context = { onTrouble, servers, surroundings, named, timeoutMs, signal, logger };
    const written = inPlaceEntry(options);
    const check = async (definition: ServerDefinition) => {
      const result = await examine(definition, { ...context, inPlaceEntry: written });
      return { result, title: titleOf(definition) };
    };
    const onResult = ({ result, title }: Awaited<ReturnType<typeof check>>) => show(result, title);
    const reports = await mapConcurrently(chosen, check, { limit: SERVERS_AT_ONCE, onResult });
    const examined = reports.map(({ result }) => result);
    if (out.json) out.value({ servers: examined.map(forPrograms), files: files.map(fileForPrograms) });
    else if (chosen.length === 0 && broken.length === 0) out.advice(servers.nothingStored ?? nothingThere(files));
    else out.line(summaryLine(examined, broken.length, sheet));
    const problems = broken.flatMap(({ problem }) => problem ?? []);
    return exitCodeOfAll([...problems, ...examined.flatMap(({ failures }) => failures)]);
  },
});

/** The common exit code of all failures; 4 if they differ. */
function exitCodeOfAll(failures: readonly NexusError[]): number {
  const codes = new Set(failures.map(exitCodeOf));
  const [only = 0] = codes;
  return codes.size > 1 ? 4 : only;
}

function brokenFile({ file, problem }: ConfigFile): Examined {
  const finding = problem ? toFailedFinding(problem) : { verdict: "ok" as const, evidence: [] };
  const { line, column } = problem?.details.source ?? {};
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const advice = [...(finding.advice ?? []), `Correct it at ${place}. Until then, none of its servers is available.`];
  const check: Check = { id: "configuration", title: TITLES.configuration, ...finding, advice };
  return { server: file, verdict: "failed", checks: [check], failures: problem ? [problem] : [] };
}

function titleOf({ name, entry, written }: ServerDefinition): string {
  if (name !== undefined) return name;
  if (!entry) return "";
  // Neither arguments nor resolved values, which may be secret.
  if (entry.reach.kind === "stdio") return maskCommand(written?.command?.split(" ")[0] ?? entry.reach.command);
  if (entry.reach.kind === "api") return entry.reach.file;
  return /^https?:/.test(entry.reach.url) && URL.canParse(entry.reach.url) ? new URL(entry.reach.url).origin : "";
}

function forPrograms({ server, verdict, checks }: Examined): Record<string, unknown> {
  return {
    server,
    verdict,
    checks: checks.map(({ error, ...check }) => (error ? { ...check, ...renderForPrograms(error) } : check)),
  };
}

function fileForPrograms({ file, layer, servers, trusted, problem }: ConfigFile): Record<string, unknown> {
  return { file, layer, servers, trusted, ...(problem ? renderForPrograms(problem) : {}) };
}

function nothingThere(files: readonly ConfigFile[]): string {
  const none = files.length === 0 ? "No configuration file was found" : "The configuration has no servers";
  return `${none}. Add a server: nexus mcp add NAME -- COMMAND …`;
}
