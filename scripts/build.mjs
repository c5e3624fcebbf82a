// Bundles what rolldown.config.ts describes. The bundler's own command lists every file it wrote, more than a hundred
// lines before the few that a first `npm start` is about.
import { rolldown } from "rolldown";
import { loadConfig } from "rolldown/config";

for (const { output, ...input } of await loadConfig("rolldown.config.ts")) {
  const build = await rolldown({ logLevel: "warn", ...input });
  await build.write(output);
  await build.close();
}
