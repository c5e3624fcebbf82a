// npm run faults [-- --seed N --runs N]: builds the runs from source, since Node 20 reads no TypeScript, and makes them.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const file = resolve("build/faults/main.mjs");
const bundle = await rolldown({
  input: "test/faults/main.ts",
  platform: "node",
  transform: { target: "node20" },
  external: ["fast-check"],
});
await bundle.write({ file, format: "esm", codeSplitting: false });
await bundle.close();
await import(pathToFileURL(file).href);
