// npm run bench -- <subject> [options]
import { parseArgs } from "node:util";
import { settleCeilings } from "./ceilings.mjs";
import { measureBounds } from "./bounds/compare.mjs";
import { measureCommands } from "./cli/start.mjs";
import { compareAuthorized } from "./client/authorized.mjs";
import { compareClients } from "./client/compare.mjs";
import { measureLists, measureResults } from "./client/large.mjs";
import { measureSize } from "./client/size.mjs";
import { connectMany } from "./client/many.mjs";
import { weighConnections } from "./client/memory.mjs";
import { compareGateways } from "./gateway/compare.mjs";
import { comparePolicies } from "./gateway/policy.mjs";
import { hostMany } from "./host/crowd.mjs";
import { measureOverhead } from "./host/overhead.mjs";
import { compareServers } from "./server/compare.mjs";
import { compareVersions } from "./versions/compare.mjs";
import { compareCalls } from "./workshop/compare.mjs";
import { measureImports } from "./workshop/import.mjs";

const SUBJECTS = {
  client: {
    calls: compareClients,
    authorized: compareAuthorized,
    lists: measureLists,
    results: measureResults,
    many: connectMany,
    memory: weighConnections,
  },
  size: { page: measureSize },
  bounds: { requests: measureBounds, answers: measureBounds, files: measureBounds, documents: measureBounds },
  cli: { start: measureCommands },
  host: { calls: measureOverhead, many: hostMany },
  gateway: { calls: compareGateways, policy: comparePolicies },
  server: { calls: compareServers },
  workshop: { calls: compareCalls, import: measureImports },
  versions: {
    client: compareVersions,
    host: compareVersions,
    gateway: compareVersions,
    tool: compareVersions,
    start: compareVersions,
  },
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    transport: { type: "string" },
    era: { type: "string" },
    only: { type: "string" },
    lower: { type: "boolean", default: false },
    policy: { type: "boolean", default: false },
    against: { type: "string" },
    seed: { type: "string" },
    match: { type: "string" },
  },
});
const parts = SUBJECTS[positionals[0]];
const part = options.policy ? "policy" : options.only;
const chosen = part === undefined ? [...new Set(Object.values(parts ?? {}))] : [parts?.[part]];
if (!parts || chosen.includes(undefined)) {
  const only = Object.keys(parts ?? SUBJECTS.client).join("|");
  console.error(
    `usage: npm run bench -- <${Object.keys(SUBJECTS).join("|")}> [--only ${only}] [--policy] [--quick] [--lower] [--profile] [--transport stdio|http] [--era legacy|modern] [--against FOLDER] [--seed N] [--match WORDS]`,
  );
  process.exit(2);
}
for (const measure of chosen) await measure(options);
settleCeilings(options);
