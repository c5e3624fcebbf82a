import { candidates } from "../../config/read/places.ts";
import { exitCodeFor } from "../command/ask-servers.ts";
import { defineCommand } from "../command/command.ts";
import { explainFiles } from "./explain-files.ts";
import { explainServer } from "./explain-server.ts";
import { loadWrittenEntries } from "./written-entries.ts";

/** nexus mcp explain github */
export const explain = defineCommand({
  usage: "nexus mcp explain [server]",
  description: `Without a server: which configuration files were looked for and read, the strongest first, whether they are trusted,
which servers each has, and which of those are hidden by a stronger file. With one: its entry as Nexus understands it, and
where it stands. Variables are shown by name; what env, headers and passwords hold is not shown. Nothing is started.`,
  words: { min: 0, max: 1 },
  options: {},
  examples: [
    ["nexus mcp explain", "the files, in the order in which they count"],
    ["nexus mcp explain github", "where a server comes from, and what its entry means"],
    ["nexus mcp explain --verbose", "with all the places where a file could be"],
  ],

  async run(context) {
    const { words, out, surroundings, flags } = context;
    const [id] = words;
    await using servers = await context.openServers();
    const { configuration } = servers;
    if (id !== undefined) {
      const definition = servers.get(id);
      const written = definition.origin && (await loadWrittenEntries(definition.origin.file)).get(id);
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
