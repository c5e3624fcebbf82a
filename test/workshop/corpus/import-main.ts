import { importOne } from "./import-one.ts";

// A process of its own for each document, so that its memory can be measured: import-main.js <file> [--compile]
const [, , path = "", ...options] = process.argv;
process.stdout.write(JSON.stringify(await importOne(path, { compile: options.includes("--compile") })));
