// The order of the folders of src: a folder imports only folders that stand before it. scripts/check-house.mjs compares.

/** Each folder by itself, lowest first; its sub-folders have places of their own. */
export const LAYERS = [
  ["text"],
  // Values are hidden in errors, and errors show commands without their secrets.
  ["masking", "errors"],
  ["json"],
  ["async"],
  ["files"],
  ["process"],
  ["source"],
  ["format"],
  ["schema"],
  ["protocol"],
  // How tools are found: by the gateway, the agent and served APIs.
  ["catalog"],
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
  ["client/web"],
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
  ["workshop/expression"],
  // Types are derived from the forms, and forms read into these types.
  ["workshop/file/model", "workshop/file/forms"],
  ["workshop/shape"],
  ["workshop/codec/record"],
  ["workshop/codec/union"],
  ["workshop/codec/json"],
  ["workshop/codec/xml"],
  ["workshop/codec/parameter"],
  ["workshop/codec"],
  ["workshop/codec/body"],
  ["workshop/documents/text"],
  ["workshop/documents/recorded"],
  ["workshop/documents/apart"],
  ["workshop/documents/pdf"],
  ["workshop/documents"],
  ["workshop/compile"],
  ["workshop/file/complete"],
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
  // A call reads pages and makes steps, and both of them make calls; very large answers of all of them are read apart.
  ["workshop/run/pages", "workshop/run/steps", "workshop/run/apart", "workshop/run"],
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
  ["gateway/calls"],
  ["gateway/lists"],
  ["gateway/changes"],
  ["gateway/requests"],
  ["gateway/stages"],
  ["gateway/edge"],
  ["gateway/tenants"],
  ["gateway"],
  ["team"],
  ["agent/model"],
  ["agent/consent"],
  ["agent/tools"],
  ["agent/questions"],
  ["agent/loop"],
  ["agent/sessions"],
  ["compose"],
  // What is done with published APIs answers in forms of operations.
  ["operations/apis", "operations"],
  ["rest/access"],
  ["rest/events"],
  // An operation that is about HTTP itself stands beside the routes, and answers have their form.
  ["rest/http", "rest"],
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
  ["cli/new"],
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

/** Whether files of one folder may import files of the other. */
export function mayImport(from, to) {
  const only = ONLY[top(from)];
  if (only && !only.includes(top(to))) return false;
  if (APART.includes(top(from)) && APART.includes(top(to)) && top(from) !== top(to)) return false;
  return rank(to) <= rank(from);
}

function rank(folder) {
  return LAYERS.findIndex((layer) => layer.includes(folder));
}

function top(folder) {
  return folder.split("/")[0];
}
