// Runs scenarios of the conformance suite one after the other in one process, which has loaded it then: a request is the
// command line, the answer { exitCode, text }. scripts/conformance.mjs starts it, with the suite's main module as argument.
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const suite = process.argv[2];
/** Thrown where the suite would end its process, so that it does nothing more. */
const ENDED = new Error("the scenario has ended");
let finish = () => {};

process.on("message", (args) => void run(args).catch(fail));
process.on("disconnect", () => process.reallyExit(0));
process.on("uncaughtException", fail);

async function run(args) {
  const before = new Set(process._getActiveHandles());
  let text = "";
  let isOver = false;
  for (const name of ["log", "info", "warn", "error", "debug"]) {
    console[name] = (...words) => void (text += isOver ? "" : `${format(...words)}\n`);
  }
  finish = (exitCode) => {
    if (isOver) return;
    isOver = true;
    // A process that ends takes its connections with it.
    for (const handle of process._getActiveHandles()) if (!before.has(handle)) handle.destroy?.();
    process.send({ exitCode, text });
  };
  process.exit = (code = 0) => {
    finish(code);
    throw ENDED;
  };
  process.argv = [process.execPath, suite, ...args];
  // Its packages stay loaded; its own module is new each time, and runs.
  await import(`${pathToFileURL(suite).href}?run=${randomUUID()}`);
}

function fail(error) {
  if (error === ENDED) return;
  console.error(error);
  finish(1);
}
