import { candidates } from "../../config/read/places.ts";
import { exitCodeFor } from "../command/ask-servers.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { explainFiles } from "./explain-files.ts";
import { explainServer } from "./explain-server.ts";
import { loadWrittenEntries } from "./written-entries.ts";

/** nexus mcp explain github */
export const explain = defineCommand({
  usage: "nexus mcp explain [server]",
  description: `Without a server: shows which configuration files were found, the one with the highest precedence first, whether they are
trusted, their servers, and which of those are hidden by another file. With a server: shows its entry as Nexus reads it, and
its file and line. Variables are shown by name; values of env, headers and passwords are not shown. Nothing is started.`,
  words: { min: 0, max: 1 },
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
