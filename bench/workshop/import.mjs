// Time and memory of `nexus api import` for each API description of ../shared/corpus, where there is one, and for an
// invented one of any size.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { printTable } from "../client/table.mjs";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const CORPUS = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
const SIZES = [10, 1_000];
/** Prints what the process took, when it ends. */
const METER = `data:text/javascript,process.on("exit",()=>{const{userCPUTime:u,systemCPUTime:s,maxRSS:m}=process.resourceUsage();process.stderr.write("\\nmeter "+JSON.stringify({cpuMs:(u+s)/1000,megabytes:m/1024}))})`;

export function measureImports() {
  const folder = mkdtempSync(join(tmpdir(), "nexus-bench-"));
  try {
    const invented = SIZES.map((count) => {
      const path = join(folder, `invented-${count}.json`);
      writeFileSync(path, JSON.stringify(inventedApi(count)));
      return path;
    });
    const corpus = existsSync(CORPUS) ? readdirSync(CORPUS).filter((name) => /\.(ya?ml|json)$/.test(name)) : [];
    if (corpus.length === 0) console.log("There is no ../shared/corpus: only invented documents are imported.");
    console.log("nexus api import: user and system time, largest resident memory. Limits: 10 s and 1 GB.\n");
    printTable([
      [],
      ["document", "kB", "tools", "seconds", "CPU s", "MB"],
      ...[...invented, ...corpus.map((name) => join(CORPUS, name))].map((path) => rowOf(path, folder)),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowOf(path, folder) {
  const start = performance.now();
  const out = mkdtempSync(join(folder, "out-"));
  const args = ["--import", METER, PROGRAM, "api", "import", path, "--name", "measured", "--out", out, "--json"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 256 * 1024 * 1024 });
  const seconds = (performance.now() - start) / 1000;
  const [, meter] = /^meter (.*)$/m.exec(stderr) ?? [];
  const kilobytes = Math.round(statSync(path).size / 1024);
  if (meter === undefined || stdout === "") return [basename(path), kilobytes, "failed", "", "", stderr.slice(0, 200)];
  const { cpuMs, megabytes } = JSON.parse(meter);
  const { tools } = JSON.parse(stdout);
  const figures = [seconds.toFixed(1), (cpuMs / 1000).toFixed(1), megabytes.toFixed(0)];
  return [basename(path), kilobytes, tools.length, ...figures];
}

/** So many operations over types that refer to each other. */
function inventedApi(count) {
  const schema = (index) => ({
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "string" },
      name: { type: "string", maxLength: 80 },
      count: { type: "integer", minimum: 0 },
      next: { $ref: `#/components/schemas/Thing${(index + 1) % count}` },
      others: { type: "array", items: { $ref: `#/components/schemas/Thing${(index * 7) % count}` } },
    },
  });
  const answer = (index) => ({
    description: "One thing",
    content: { "application/json": { schema: { $ref: `#/components/schemas/Thing${index}` } } },
  });
  const operation = (index) => ({
    operationId: `getThing${index}`,
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
    responses: { 200: answer(index) },
  });
  const each = Array.from({ length: count }, (_, index) => index);
  return {
    openapi: "3.1.0",
    info: { title: "Invented", version: "1.0.0" },
    servers: [{ url: "https://invented.example/v1" }],
    paths: Object.fromEntries(each.map((index) => [`/things${index}/{id}`, { get: operation(index) }])),
    components: { schemas: Object.fromEntries(each.map((index) => [`Thing${index}`, schema(index)])) },
  };
}
