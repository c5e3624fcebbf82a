// Bundles what rolldown.config.ts describes. The bundler's own command lists every file it wrote, more than a hundred
// lines before the few that a first `npm start` is about. --told: for people who wait for it.
import { chmodSync } from "node:fs";
import { rolldown } from "rolldown";
import { loadConfig } from "rolldown/config";

const isTold = process.argv.includes("--told");
const startedAt = performance.now();
if (isTold) console.log("Building Nexus into dist/, which takes some seconds …");
for (const { output, ...input } of await loadConfig("rolldown.config.ts")) {
  const build = await rolldown({ logLevel: "warn", ...input });
  await build.write(output);
  await build.close();
}
// "npm link" and npx make it executable once; a build writes it again.
chmodSync("dist/cli/main.js", 0o755);
if (isTold) {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`Built in ${seconds} s. Starting the gateway with the demo servers …`);
}
