#!/usr/bin/env node
import { readEnvironment } from "../environment.ts";
import { VERSION } from "../protocol/version.ts";
import { useCompileCache } from "./compile-cache.ts";
import { ownTypedName, withTypedName } from "./output/typed-name.ts";
import { overview } from "./overview.ts";

// Nothing else is loaded for the two most frequent options.
const args = process.argv.slice(2);
const [first, ...others] = args;
const isAlone = others.length === 0;
if (isAlone && (first === "--version" || first === "-v")) process.stdout.write(`${VERSION}\n`);
else if (first === undefined || (isAlone && (first === "--help" || first === "-h" || first === "help")))
  process.stdout.write(withTypedName(overview(), ownTypedName(readEnvironment())));
else {
  await useCompileCache();
  const { run } = await import("./run.ts");
  process.exitCode = await run(args);
}
