import { candidates, type Candidate } from "../../config/read/places.ts";
import { exitCodeFor, failuresForPrograms } from "../command/ask-servers.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { explainServer } from "./explain-server.ts";
import { loadWrittenEntries } from "./written-entries.ts";
import type { ConfigFile, Configuration } from "../../config/load.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import { nothingConfigured } from "./no-servers.ts";
import type { Output } from "../output/output.ts";
import { shortPath } from "../output/short-path.ts";

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
    out.note(`${out.onStderr("yellow", "warning:")} ${visible(message)} (${place})`);
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
