#!/usr/bin/env node
import { VERSION } from "../protocol/version.ts";

// Nothing else is loaded for the two questions that are asked most.
const [first, ...others] = process.argv.slice(2);
const isAlone = others.length === 0;
if (isAlone && (first === "--version" || first === "-v")) process.stdout.write(`${VERSION}\n`);
else if (first === undefined || (isAlone && (first === "--help" || first === "-h" || first === "help"))) {
  process.stdout.write((await import("./overview.ts")).overview());
} else process.exitCode = await (await import("./run.ts")).run(process.argv.slice(2));
