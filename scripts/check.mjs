// Runs every `check:…` script of package.json, the longest first and two at a time, and prints what failed.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, resolve } from "node:path";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const checks = Object.entries(scripts).filter(([name]) => name.startsWith("check:"));
const PATH = `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH}`;
const AT_A_TIME = 2;
const count = checks.length;

const failed = [];
await Promise.all(Array.from({ length: AT_A_TIME }, runInTurn));
for (const { name, command, output } of failed) console.error(`\n${name} (${command}) failed:\n${output}`);
if (failed.length > 0) process.exit(1);
console.log(`${count} checks passed`);

async function runInTurn() {
  for (let next = checks.shift(); next; next = checks.shift()) {
    const [name, command] = next;
    const { code, output } = await run(command);
    if (code !== 0) failed.push({ name, command, output });
  }
}

/** One command as a shell of npm runs it; its output is kept. */
function run(command) {
  return new Promise((done, fail) => {
    const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PATH } });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    }
    child.once("error", fail);
    child.once("close", (code) => done({ code, output }));
  });
}
