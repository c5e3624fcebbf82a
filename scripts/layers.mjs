// The order of the folders of src, and the linter's rules that follow from it. A folder imports only folders that stand
// before it. `node scripts/layers.mjs` writes the rules into .oxlintrc.json; `--check` compares.
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";

/** Each folder by itself, lowest first; its sub-folders have places of their own. */
export const LAYERS = [
  ["text"],
  ["errors"],
  ["json"],
  ["async"],
  ["files"],
  ["process"],
  ["source"],
  ["format"],
  ["schema"],
  ["protocol"],
  ["net"],
  ["transport"],
  ["auth"],
  ["auth/oauth"],
  ["auth/grants"],
  ["auth/authorize"],
  ["client/conversation"],
  ["client/changes"],
  ["client"],
  ["client/connect"],
  ["config/read"],
  ["config/trust"],
  ["config"],
  ["config/edit"],
  ["config/import"],
  ["host/directory"],
  ["host/definitions"],
  ["host/servers"],
  ["host"],
  ["server/core"],
  ["server/modern"],
  ["server/sessions"],
  ["server/legacy"],
  ["server/http"],
  ["server/stdio"],
  ["server/memory"],
  ["server/features"],
  ["server"],
  ["workshop/pattern"],
  ["workshop/file/model"],
  ["workshop/expression"],
  ["workshop/shape"],
  ["workshop/codec/record"],
  ["workshop/codec/union"],
  ["workshop/codec/json"],
  ["workshop/codec/xml"],
  ["workshop/codec/parameter"],
  ["workshop/codec/form"],
  ["workshop/codec"],
  ["workshop/codec/body"],
  ["workshop/documents/text"],
  ["workshop/documents/recorded"],
  ["workshop/documents/cleaned"],
  ["workshop/documents/apart"],
  ["workshop/documents/pdf"],
  ["workshop/documents"],
  ["workshop/compile"],
  ["workshop/file/read"],
  ["workshop/file/read/secrets"],
  ["workshop/file/check"],
  ["workshop/file"],
  ["workshop/documents/openapi"],
  ["workshop/documents/postman"],
  ["workshop/documents/curl"],
  ["workshop/documents/graphql"],
  ["workshop/documents/manual/blocks"],
  [
    "workshop/documents/manual/tables",
    "workshop/documents/manual/samples",
    "workshop/documents/manual/fields",
    "workshop/documents/manual/endpoints",
    "workshop/documents/manual/describe",
    "workshop/documents/manual",
  ],
  ["workshop/documents/wsdl/xsd", "workshop/documents/wsdl"],
  ["workshop/documents/load"],
  ["workshop/review"],
  ["workshop/check"],
  ["workshop/draft/names"],
  ["workshop/draft/yaml"],
  [
    "workshop/draft/types",
    "workshop/draft/secrets",
    "workshop/draft/select",
    "workshop/draft/examples",
    "workshop/draft/tool",
    "workshop/draft/merge",
    "workshop/draft",
  ],
  ["workshop/stale"],
  ["workshop/run/signing"],
  ["workshop/run/secrets"],
  ["workshop/run/writes"],
  // A call reads pages and makes steps, and both of them make calls.
  ["workshop/run/pages", "workshop/run/steps", "workshop/run"],
  ["workshop/learn"],
  ["workshop/publish"],
  ["workshop/serve"],
  ["workshop/fake"],
  ["workshop"],
  ["workshop/reader"],
  ["store/engine"],
  ["store/tables/migrations"],
  ["store/tables"],
  ["store/audit"],
  ["store/keep"],
  ["store"],
  ["gateway/names"],
  ["gateway/operation"],
  ["gateway/access"],
  ["gateway/sets"],
  ["gateway/upstream"],
  ["gateway/lists"],
  ["gateway/tasks"],
  ["gateway/calls"],
  ["gateway/changes"],
  ["gateway/edge"],
  ["gateway/tenants"],
  ["gateway"],
  ["team"],
  ["team/operate"],
  ["agent/model"],
  ["agent/consent"],
  ["agent/tools"],
  ["agent/questions"],
  ["agent/loop"],
  ["agent/sessions"],
  ["compose"],
  ["rest/remote"],
  ["rest/access"],
  ["rest/events"],
  ["rest/http"],
  ["rest/resources"],
  ["rest"],
  ["testing"],
  ["demo"],
  [""],
  // Its entry opens models with keys of the environment.
  ["agent"],
  ["cli/output"],
  ["cli/command"],
  ["cli/store"],
  ["cli/gateway"],
  ["cli/login"],
  ["cli/look"],
  ["cli/watch"],
  ["cli/arguments"],
  ["cli/input"],
  ["cli/call"],
  ["cli/models"],
  ["cli/consent"],
  ["cli/chat/terminal"],
  ["cli/chat"],
  // Reviews say what was published, and publishing reads tool files.
  ["cli/api/publish", "cli/api"],
  ["cli/api/try"],
  ["cli/doctor"],
  ["cli/configure"],
  ["cli/clients"],
  ["cli/trust"],
  ["cli/secrets"],
  ["cli/keys"],
  ["cli/tenants"],
  ["cli/sets"],
  ["cli/changes"],
  ["cli/audit"],
  ["cli/serve"],
  // The catalog loads every command when it is called, and completion reads the catalog.
  ["cli/completion", "cli"],
];

/** Rooms for concepts: none of them knows MCP. */
const ROOMS = ["text", "errors", "json", "async", "files", "source", "schema"];

/** Folders that import less than what stands before them. */
const ONLY = {
  server: [...ROOMS, "protocol", "server"],
  demo: [...ROOMS, "protocol", "server", "demo"],
  testing: [...ROOMS, "protocol", "transport", "server", "agent", "testing"],
};

/** These do not know each other; `compose` joins them. */
const APART = ["gateway", "workshop", "agent"];

const FILE = ".oxlintrc.json";
const MESSAGE = "A folder imports only folders that stand before it in scripts/layers.mjs.";

const top = (folder) => folder.split("/")[0];

function mayImport(from, to) {
  const only = ONLY[top(from)];
  if (only && !only.includes(top(to))) return false;
  if (APART.includes(top(from)) && APART.includes(top(to)) && top(from) !== top(to)) return false;
  return rank(to) <= rank(from);
}

function rank(folder) {
  return LAYERS.findIndex((layer) => layer.includes(folder));
}

/** How a file of one folder names what is in another: `../b/`. */
function pathTo(from, to) {
  const path = relative(`/${from}`, `/${to}`);
  if (path === "") return "./";
  return path.startsWith(".") ? `${path}/` : `./${path}/`;
}

/** Patterns of the folders, one for a whole tree where all of it is meant. */
function patterns(from, folders) {
  const trees = [...new Set(folders.map(top))].filter(
    (tree) => tree !== top(from) && LAYERS.flat().every((each) => top(each) !== tree || folders.includes(each)),
  );
  const single = folders.filter((folder) => !trees.includes(top(folder)));
  const named = trees.filter((tree) => tree !== "");
  const up = pathTo(from, "");
  return [
    ...(named.length > 0 ? [`${escaped(up)}(${named.join("|")})/`] : []),
    ...(trees.includes("") ? [`${escaped(up)}[^/]+$`] : []),
    ...single.map((folder) => `${escaped(pathTo(from, folder))}[^/]+$`),
  ];
}

function escaped(path) {
  return path.replaceAll(".", "\\.");
}

function ruleOf(from) {
  const refused = LAYERS.flat().filter((to) => to !== from && !mayImport(from, to));
  const regex = `^(${patterns(from, refused).join("|")})`;
  return {
    files: [from === "" ? "src/*.ts" : `src/${from}/*.ts`],
    excludeFiles: ["**/*.test.ts"],
    rules: { "no-restricted-imports": ["error", { patterns: [{ regex, message: MESSAGE }] }] },
  };
}

function isLayerRule({ rules }) {
  return "no-restricted-imports" in rules;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const text = readFileSync(FILE, "utf8");
  const { overrides, ...rest } = JSON.parse(text);
  const rules = LAYERS.flat()
    .filter((from) => LAYERS.flat().some((to) => to !== from && !mayImport(from, to)))
    .map(ruleOf);
  const others = overrides.filter((override) => !isLayerRule(override));
  const wanted = `${JSON.stringify({ ...rest, overrides: [...rules, ...others] }, undefined, 2)}\n`;
  const isSame = JSON.stringify(JSON.parse(text)) === JSON.stringify(JSON.parse(wanted));
  if (!process.argv.includes("--check")) writeFileSync(FILE, wanted);
  else if (!isSame) {
    console.error(`${FILE} does not have the rules of scripts/layers.mjs. Run "node scripts/layers.mjs".`);
    process.exit(1);
  }
}
