#!/usr/bin/env node
import { VERSION } from "../protocol/version.ts";
import { findCommand } from "./catalog.ts";
import { overview } from "./overview.ts";

// Nothing else is loaded for the two questions that are asked most.
const args = process.argv.slice(2);
const [first, ...others] = args;
const isAlone = others.length === 0;
if (isAlone && (first === "--version" || first === "-v")) process.stdout.write(`${VERSION}\n`);
else if (first === undefined || (isAlone && (first === "--help" || first === "-h" || first === "help")))
  process.stdout.write(overview());
else void runCommand();

async function runCommand(): Promise<void> {
  const command = findCommand(args);
  if (command !== undefined && !args.includes("--help") && !args.includes("-h")) {
    const { loadCached } = await import("./load-cached.ts");
    loadCached(command);
  }
  const { run } = await import("./run.ts");
  process.exitCode = await run(args);
}
