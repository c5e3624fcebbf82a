import { candidates, type Candidate } from "../../config/read/places.ts";
import { exitCodeFor, failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { loadWrittenEntries, type WrittenEntry } from "./written-entries.ts";
import type { ConfigFile, Configuration } from "../../config/load.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import { nothingConfigured } from "./no-servers.ts";
import type { Output } from "../output/output.ts";
import { shortPath, placeText } from "../output/short-path.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { ConfigWarning } from "../../config/read/problem.ts";
import { maskedMembers, reachText, reachMember } from "./reach-text.ts";
import { factLines, type Fact } from "../output/facts.ts";
import { durationText } from "../../text/duration.ts";
import { isRecord } from "../../json/is-record.ts";
import { withoutDefaults, maskUrl } from "../../masking/mask-words.ts";

/** nexus mcp explain github */
export const explain = defineCommand({
  usage: "nexus mcp explain [server]",
  description: `Without a server: shows which configuration files were found, the one with the highest precedence first, whether they are
trusted, their servers, and which of those are hidden by another file. With a server: shows its entry as Nexus reads it, and
its file and line. Variables are shown by name; values of env, headers and passwords are not shown. Nothing is started.`,
  options: TENANT,
  examples: [
    ["nexus mcp explain", "show the files in the order of precedence"],
    ["nexus mcp explain github", "show where a server is configured and what its entry means"],
    ["nexus mcp explain --verbose", "also show all locations without a file"],
  ],

  async run(context) {
    const { words, out, surroundings, flags } = context;
    const [id] = words;
    await using servers = await context.openServers();
    const { configuration } = servers;
    if (id !== undefined) {
      const definition = servers.get(id);
      const written =
        servers.stored?.get(definition.id) ??
        (definition.origin && (await loadWrittenEntries(definition.origin.file)).get(id));
      explainServer(out, { definition, written, warnings: configuration.warnings, home: surroundings.home });
      return definition.problem ? exitCodeFor(0, [definition.problem]) : 0;
    }
    const places = flags.config === undefined ? candidates({ ...surroundings, cwd: process.cwd() }) : [];
    const held = await Promise.all(
      configuration.files.map(async (file) => ({ ...file, ids: [...(await loadWrittenEntries(file.file)).keys()] })),
    );
    explainFiles(out, { configuration, held, places, home: surroundings.home, isVerbose: flags.verbose });
    return exitCodeFor(0, servers.fileProblems);
  },
});

interface Explained {
  configuration: Configuration;
  /** The existing files with their servers. */
  held: readonly (ConfigFile & { ids: readonly string[] })[];
  /** Where files are looked for. */
  places: readonly Candidate[];
  home: string;
  isVerbose: boolean;
}

/** Shows which files count, and which servers each has. */
function explainFiles(out: Output, explained: Explained): void {
  const { configuration, held, places, home, isVerbose } = explained;
  const absent = places.filter(({ file }) => !held.some((found) => found.file === file));
  if (out.json) return out.value(forPrograms(explained, absent));
  for (const [index, file] of held.entries()) {
    const { layer, trusted, problem, ids } = file;
    const trust = trusted ? out.style("green", "trusted") : out.style("yellow", "not trusted");
    out.line(`${index + 1}. ${out.style("bold", shortPath(file.file, home))}  ${layer}, ${trust}`);
    if (problem) out.line(`     ${out.style("red", "cannot be used:")} ${visible(problem.message)}`);
    else if (ids.length === 0) out.line("     no servers");
    for (const id of ids) out.line(`     ${id}${remarks(id, file, explained)}`);
  }
  for (const { message, source } of configuration.warnings) {
    const place = `${shortPath(source.file, home)}:${source.line}`;
    out.warn(`${visible(message)} (${place})`);
  }
  for (const { problem } of held) if (problem) out.error(problem);
  if (isVerbose && absent.length > 0) {
    out.line(`\nSearched, not found:`);
    for (const { file, layer } of absent) out.line(`     ${shortPath(file, home)}  ${layer}`);
  }
  if (held.length === 0) out.note(nothingConfigured(configuration));
  else if (held.length > 1) out.note("A file hides servers with the same name in the files below it.");
  if (!isVerbose && absent.length > 0) {
    out.note(`${pluralize(absent.length, "other location")} had no file; --verbose shows them.`);
  }
}

function remarks(id: string, { file, trusted }: ConfigFile, { configuration, home }: Explained): string {
  const effective = configuration.servers.find((server) => server.id === id);
  if (effective?.origin && effective.origin.file !== file) {
    const other = shortPath(effective.origin.file, home);
    return trusted || !effective.trusted
      ? `  hidden by ${other}`
      : `  until it is trusted, the entry in ${other} is used`;
  }
  const words = [
    effective?.enabled === false ? "disabled" : "",
    effective?.problem ? `cannot run: ${effective.problem.message}` : "",
  ].filter((word) => word !== "");
  return words.length === 0 ? "" : `  ${visible(words.join(", "))}`;
}

function forPrograms({ configuration, held }: Explained, absent: readonly Candidate[]): Record<string, unknown> {
  return {
    files: held.map(({ file, layer, trusted, ids, problem }) => ({
      file,
      layer,
      trusted,
      servers: ids.map((id) => {
        const origin = configuration.servers.find((server) => server.id === id)?.origin?.file;
        return origin === undefined || origin === file ? { id } : { id, hiddenBy: origin };
      }),
      problem: problem && failuresForPrograms([problem])[0],
    })),
    absent: absent.map(({ file, layer }) => ({ file, layer })),
    warnings: configuration.warnings,
  };
}

interface ExplainedServer {
  definition: ServerDefinition;
  /** The entry as written in its file. */
  written: WrittenEntry | undefined;
  warnings: readonly ConfigWarning[];
  home: string;
}

/** Shows the meaning and the place of an entry. */
function explainServer(out: Output, explained: ExplainedServer): void {
  const { definition, written = {} } = explained;
  const { id, name, problem, origin, hides, enabled, trusted, autoStart, isolation, tools, agents, prefix } =
    definition;
  const warnings = explained.warnings.filter(({ server }) => server === id);
  const env = maskedMembers(written["env"], "=");
  const headers = maskedMembers(written["headers"], ": ");
  if (out.json) {
    const reach = { transport: definition.entry?.reach.kind, reach: reachText(written), env, headers };
    const settings = {
      enabled,
      trusted,
      autoStart,
      isolation,
      tools,
      agents,
      prefix,
      extra: Object.keys(definition.extra ?? {}),
    };
    const [error] = problem ? failuresForPrograms([problem]) : [];
    return out.value({ server: id, name, source: origin, hides, ...settings, ...reach, problem: error, warnings });
  }
  const title = name === undefined ? id : `${id} (${name})`;
  for (const line of factLines(out, visible(title), facts(explained, { env, headers }))) out.line(line);
  for (const { message, source } of warnings) {
    out.warn(`${visible(message)} (${source.file}:${source.line})`);
  }
  if (problem) out.error(problem);
}

function facts(
  { definition, written = {}, home }: ExplainedServer,
  masked: { env: string[]; headers: string[] },
): Fact[] {
  const {
    origin,
    hides,
    enabled,
    trusted,
    autoStart,
    isolation,
    tools,
    agents,
    prefix,
    entry,
    extra = {},
  } = definition;
  const reach = entry?.reach;
  const { url, api } = reachMember(written);
  const way = url === undefined ? (api === undefined ? "started by" : "tool file") : "reached at";
  return [
    ["configured", origin ? [placeText(origin, home)] : []],
    ["hides", hides.map((file) => `the server with the same name in ${shortPath(file, home)}`)],
    ["state", [[enabled ? "enabled" : "disabled", trusted ? "trusted" : "not trusted"].join(", ")]],
    [way, present(reachText(written))],
    ["transport", present(reach?.kind)],
    ["runs in", present(folderText(definition, written, home))],
    ["env", masked.env],
    ["passes on", reach?.kind === "stdio" ? [...reach.passthrough] : []],
    ["headers", masked.headers],
    ["variables", [...new Set(variablesIn(written))]],
    ["oauth", oauthText(written["oauth"])],
    ["roots", rootsIn(written["roots"])],
    ["timeout", entry?.timeoutMs === undefined ? [] : [`${durationText(entry.timeoutMs)} for an answer`]],
    ["connecting", entry?.connectTimeoutMs === undefined ? [] : [`at most ${durationText(entry.connectTimeoutMs)}`]],
    ["tools", [...listed("only", tools.allow), ...listed("never", tools.deny)]],
    ["shared with", listed("only", agents)],
    ["starts", [autoStart ? "when the host opens" : "on first use"]],
    ["isolation", [isolation]],
    ["prefix", present(prefix)],
    ["ignored", Object.keys(extra)],
  ];
}

/** Only the names of the settings: their values may be secret. */
function oauthText(oauth: unknown): string[] {
  if (oauth === false) return ["off"];
  return isRecord(oauth) ? [Object.keys(oauth).join(", ")] : [];
}

/** As written: resolved values may be secret. */
function folderText({ entry }: ServerDefinition, written: WrittenEntry, home: string): string | undefined {
  const { cwd = written["workdir"] } = written;
  if (typeof cwd === "string" && cwd !== "") return withoutDefaults(shortPath(cwd, home));
  const folder = entry?.reach.kind === "stdio" ? entry.reach.cwd : undefined;
  return folder === undefined ? undefined : shortPath(folder, home);
}

function rootsIn(roots: unknown): string[] {
  if (!Array.isArray(roots)) return [];
  const places = roots.map((root: unknown) => (isRecord(root) ? root["uri"] : root));
  return places.filter((place) => typeof place === "string").map((place) => withoutDefaults(maskUrl(place)));
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

function listed(word: string, names: readonly string[] | undefined): string[] {
  return names ? [`${word} ${names.join(", ") || "nothing"}`] : [];
}

/** The names of the variables an entry uses. */
function variablesIn(value: unknown): string[] {
  if (typeof value === "string")
    return [...value.matchAll(/(?<!\$)\$\{([\w:.-]+?)(?::-[^}]*)?\}/g)].map(([, name = ""]) => name);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(variablesIn) : [];
}
