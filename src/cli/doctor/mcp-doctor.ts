import { SILENT } from "../../text/logger.ts";
import type { ConfigFile, Configuration } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { maskCommand } from "../../masking/mask-words.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { SERVERS_AT_ONCE } from "../command/ask-servers.ts";
import { defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { toFailedFinding, TITLES, FindingDraft, ok, type Check, type Finding, type CheckVerdict } from "./check.ts";
import { Checkup, type Examined } from "./checkup.ts";
import { exitCodeOf } from "../output/exit-codes.ts";
import { inPlaceEntry } from "../command/in-place.ts";
import { MANY_SERVERS } from "../look/list-command.ts";
import { mapConcurrently } from "../../async/map-concurrently.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { wayOf } from "./blame.ts";
import { ServerExamination, type ExaminationContext } from "./server-examination.ts";
import { lacksVariables, referencesIn, variablesFinding, type AvailableVariables } from "./variables-check.ts";
import { unableToRun } from "../../host/servers/unable-to-run.ts";
import { parseUrl } from "../../transport/http-sender.ts";
import { visible } from "../../text/visible.ts";
import type { Style } from "../output/output.ts";
import { loadText, parseSource } from "../../config/read/read-source.ts";
import { findServers } from "../../config/read/find-servers.ts";
import { idOf } from "../../config/define-server.ts";
import { plainValue } from "../../source/source-node.ts";

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

interface EntryExaminationContext extends ExaminationContext {
  /** The entry on the command line, if there is one. */
  inPlaceEntry: unknown;
  /** Whether this server was named. */
  named: boolean;
}

/** Checks one server from its entry to its shutdown. Rejects only if it is cancelled. */
async function examine(definition: ServerDefinition, context: EntryExaminationContext): Promise<Examined> {
  const checkup = new Checkup();
  const { id, entry } = definition;
  const { servers, inPlaceEntry } = context;
  const written = servers.inPlace
    ? inPlaceEntry
    : (servers.stored?.get(id) ?? (await writtenEntry(definition).catch(() => undefined)));
  const obstacle = await examineEntry(checkup, definition, { ...context, written });
  if (entry) checkup.kind = wayOf(entry.reach);
  if (obstacle !== undefined || !entry) return checkup.result(id, obstacle);
  try {
    await new ServerExamination(checkup, definition, entry, { ...context, written }).run();
  } catch (error) {
    if (context.signal.aborted) throw error;
    // A problem with one server must not affect the report about the others.
    checkup.fail(asNexusError(error));
  }
  return checkup.result(id);
}

function ofTenant({ stored, tenant }: ExaminationContext["servers"]): string | undefined {
  return stored && `of the tenant "${tenant}"`;
}

/** Checks without starting anything; returns why it ends there, if it does. */
async function examineEntry(
  checkup: Checkup,
  definition: ServerDefinition,
  { servers, surroundings, written, named }: EntryExaminationContext & { written: unknown },
): Promise<string | undefined> {
  const { variables, platform } = surroundings;
  const references = referencesIn(written);
  const names = new Set(Object.keys(variables).map((name) => (platform === "win32" ? name.toUpperCase() : name)));
  const known: AvailableVariables = {
    isSet: (name) => names.has(platform === "win32" ? name.toUpperCase() : name),
    secrets: references.some(({ kind }) => kind === "secret")
      ? await servers.secrets.list().then(
          ({ secrets }) => secrets.map(({ name }) => name),
          () => [],
        )
      : [],
  };
  // One problem is one failure: that of the variables if they are missing.
  const isAboutVariables = definition.problem !== undefined && definition.trusted && lacksVariables(references, known);
  const asConfigured = isAboutVariables ? { ...definition, problem: undefined } : definition;
  checkup.set(
    "configuration",
    configurationFinding(asConfigured, { ...servers.configuration, unfiled: ofTenant(servers) }),
  );
  checkup.set("enabled", enabledFinding(definition, { named }));
  checkup.set("trusted", trustedFinding(definition, ofTenant(servers)));
  if (checkup.find("configuration")?.verdict !== "failed") {
    checkup.set("variables", variablesFinding(references, known, definition));
  }
  if (!definition.enabled) return "it is disabled";
  const isStopped = (["configuration", "trusted", "variables"] as const).some(
    (check) => checkup.find(check)?.verdict === "failed",
  );
  return isStopped ? "nothing is started until this is fixed" : undefined;
}

/** The place of the entry, what it hides, and its problems. */
function configurationFinding(
  definition: ServerDefinition,
  { warnings, unfiled = "from the command line" }: Pick<Configuration, "warnings"> & { unfiled?: string | undefined },
): Finding {
  const { id, origin, hides } = definition;
  const place = origin ? `${origin.file}:${origin.line} (${origin.layer})` : unfiled;
  const problem = definition.problem ?? urlProblem(definition);
  if (problem) return toFailedFinding(problem, [`at ${placeOf(problem.details.source) ?? place}`]);
  const draft = new FindingDraft().add("ok", place);
  if (hides.length > 0) {
    const advice = `The entries of "${id}" in these files have no effect; "nexus mcp explain ${id}" shows them.`;
    draft.add("note", `hides a server with the same name in ${hides.join(", ")}`, advice);
  }
  for (const { server, message, source } of warnings) {
    if (server === id) draft.add("warning", `${message} (${source.file}:${source.line})`, "Correct it in the file.");
  }
  return draft.finding();
}

/** `named`: this server was asked about, so being disabled is the answer. */
function enabledFinding(definition: ServerDefinition, { named }: { named: boolean }): Finding {
  if (definition.enabled) return ok("yes");
  const refusal = unableToRun(definition);
  if (named && refusal) return toFailedFinding(refusal);
  return { verdict: "note", evidence: ["disabled"], advice: refusal?.hint === undefined ? [] : [refusal.hint] };
}

function trustedFinding(definition: ServerDefinition, unfiled = "named on the command line"): Finding {
  const { trusted, origin } = definition;
  if (!trusted) {
    const refusal = unableToRun({ ...definition, enabled: true, problem: undefined });
    if (refusal) return toFailedFinding(refusal, origin ? [`in ${origin.file}:${origin.line} (${origin.layer})`] : []);
  }
  if (origin?.layer === "user") return ok("your own file");
  return ok(origin && origin.layer !== "explicit" ? "the project's file is trusted" : unfiled);
}

function urlProblem({ entry }: ServerDefinition): ReturnType<typeof asNexusError> | undefined {
  if (!entry || !("url" in entry.reach)) return undefined;
  try {
    parseUrl(entry.reach.url);
    return undefined;
  } catch (error) {
    return asNexusError(error);
  }
}

function placeOf(source: { file: string; line?: number | undefined } | undefined): string | undefined {
  return source && [source.file, source.line].filter((part) => part !== undefined).join(":");
}

export interface Sheet {
  style: (style: Style, text: string) => string;
  /** Advice with the commands of this program as they are typed. */
  typed: (text: string) => string;
  /** Undefined if lines are not limited. */
  columns: number | undefined;
}

const MARKS: Record<CheckVerdict, readonly [mark: string, style: Style]> = {
  ok: ["✓", "green"],
  note: ["·", "cyan"],
  warning: ["!", "yellow"],
  failed: ["✗", "red"],
  skipped: ["-", "dim"],
};

/** The findings about one server for people: a line for each check, with details and fixes below it. */
export function reportLines({ server, checks }: Examined, title: string, sheet: Sheet): string[] {
  const width = Math.max(...checks.map((check) => check.title.length));
  const heading = title === "" ? sheet.style("bold", server) : `${sheet.style("bold", server)}  ${visible(title)}`;
  const lines = [heading];
  const left: Check[] = [];
  for (const check of checks) {
    // Checks that were skipped for the same reason share one line at the end.
    if (check.verdict === "skipped" && checks.filter(({ evidence }) => evidence[0] === check.evidence[0]).length > 1) {
      left.push(check);
    } else lines.push(...checkLines(check, width, sheet));
  }
  if (left.length > 0) {
    const names = `${left.map((check) => check.title).join(", ")}: ${left[0]?.evidence[0] ?? ""}`;
    lines.push(...hanging(`  ${mark("skipped", sheet)} ${"not checked".padEnd(width)}  `, [names], { width, sheet }));
  }
  return lines;
}

/** A server without problems, if there are many servers. */
function briefLine({ server, verdict }: Examined, title: string, sheet: Sheet): string {
  // Notes are not problems: the summary counts them as good.
  return `${mark(verdict === "note" ? "ok" : verdict, sheet)} ${sheet.style("bold", server)}${title === "" ? "" : `  ${visible(title)}`}`;
}

function checkLines({ title, verdict, evidence, advice = [] }: Check, width: number, sheet: Sheet): string[] {
  const lead = `  ${mark(verdict, sheet)} ${title.padEnd(width)}  `;
  return [
    ...hanging(lead, evidence, { width, sheet }),
    ...advice.flatMap((text) =>
      hanging(`${" ".repeat(width + 6)}→ `, [sheet.typed(text)], { width: width + 2, sheet }),
    ),
  ];
}

/** The overall result. */
export function summaryLine(
  examined: readonly Examined[],
  brokenFiles: number,
  { style }: Pick<Sheet, "style">,
): string {
  const failed = examined.filter(({ verdict }) => verdict === "failed").map(({ server }) => server);
  const warned = examined.filter(({ verdict }) => verdict === "warning").length;
  const good = examined.length - failed.length - warned;
  const parts = [
    `${examined.length} ${examined.length === 1 ? "server" : "servers"} checked`,
    ...(good > 0 ? [style("green", `${good} OK`)] : []),
    ...(warned > 0 ? [style("yellow", `${warned} with warnings`)] : []),
    ...(failed.length > 0 ? [style("red", `${failed.length} failed (${failed.join(", ")})`)] : []),
    ...(brokenFiles > 0 ? [style("red", `${brokenFiles} unusable ${brokenFiles === 1 ? "file" : "files"}`)] : []),
  ];
  return parts.join(", ");
}

function mark(verdict: CheckVerdict, { style }: Pick<Sheet, "style">): string {
  const [sign, colour] = MARKS[verdict];
  return style(colour, sign);
}

/** Text after a lead; further lines are indented to its width and wrapped at the end of the terminal. */
function hanging(lead: string, texts: readonly string[], { width, sheet }: { width: number; sheet: Sheet }): string[] {
  const indent = " ".repeat(width + 6);
  const room = sheet.columns === undefined ? Infinity : Math.max(sheet.columns - indent.length, 20);
  const lines = texts.flatMap((text) => wrapped(visible(text), room));
  return (lines.length === 0 ? [""] : lines).map((line, index) => `${index === 0 ? lead : indent}${line}`.trimEnd());
}

/** Broken at spaces; a word that is too long stays whole, so that it can be copied. */
export function wrapped(text: string, room: number): string[] {
  if (text.length <= room) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The entry as written in its file. */
async function writtenEntry({ id, origin }: ServerDefinition): Promise<unknown> {
  const text = origin && (await loadText(origin.file));
  if (text === undefined) return undefined;
  const { servers } = findServers(await parseSource(text, origin?.file ?? ""), origin?.file ?? "");
  const found = servers.find((server) => idOf(server) === id);
  return found && plainValue(found.node);
}
