// The client under test of the official conformance suite: one scenario a run, named by the environment.
// Only answers and steps are here; everything that is judged happens in the library.
import { connect } from "../../dist/index.js";

const MODERN = "2026-07-28";

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const url = process.argv.at(-1);

/** The client's metadata document, and an address that nothing listens on: its redirect is read, not followed. */
const METADATA_URL = "https://conformance-test.local/client-metadata.json";
const REDIRECT_URI = "http://127.0.0.1:33418/callback";

const acceptForm = {
  capabilities: { elicitation: { form: { applyDefaults: true } } },
  handle: () => ({ action: "accept", content: {} }),
};

const confirm = {
  capabilities: { elicitation: { form: {} } },
  handle: ({ params }) => ({ action: "accept", content: exampleOf(params?.requestedSchema) }),
};

const everything = {
  capabilities: { roots: {}, sampling: {}, elicitation: { form: {} } },
  handle: ({ method }) => {
    if (method === "roots/list") return { roots: [] };
    if (method === "elicitation/create") return { action: "decline" };
    return { role: "assistant", model: "none", content: { type: "text", text: "" } };
  },
};

/** What each scenario asks of the client, and who answers the server's questions meanwhile. */
const scenarios = {
  initialize: { run: (client) => client.listTools() },
  "json-schema-ref-no-deref": { run: (client) => client.listTools() },
  tools_call: {
    async run(client) {
      await client.listTools();
      await client.callTool("add_numbers", { a: 5, b: 3 });
    },
  },
  "elicitation-sep1034-client-defaults": {
    input: acceptForm,
    run: (client) => client.callTool("test_client_elicitation_defaults", {}),
  },
  "sse-retry": { run: (client) => client.callTool("test_reconnection", {}) },
  "sep-2640-client-no-prefetch": { run: (client) => client.skills.list() },
  "sep-2640-client-verify-digest": { run: useSkills },
  "sep-2640-client-verify-size": { run: useSkills },
  "sep-2640-client-verify-frontmatter": { run: useSkills },
  "request-metadata": { input: everything, run: (client) => client.listTools() },
  "http-standard-headers": {
    async run(client) {
      const [tool] = await client.listTools();
      if (tool) await client.callTool(tool.name, exampleOf(tool.inputSchema));
      const [resource] = await client.listResources();
      if (resource) await client.readResource(resource.uri);
      const [prompt] = await client.listPrompts();
      if (prompt) await client.getPrompt(prompt.name, {});
    },
  },
  "http-custom-headers": {
    async run(client) {
      await client.listTools();
      for (const { name, arguments: args } of context.toolCalls ?? []) await client.callTool(name, args);
    },
  },
  "http-invalid-tool-headers": {
    async run(client) {
      for (const tool of await client.listTools()) await client.callTool(tool.name, { region: "us-west1" });
    },
  },
  "sep-2322-client-request-state": {
    input: confirm,
    async run(client) {
      await client.listTools();
      for (const kind of ["echo_state", "no_state", "unrelated", "no_result_type"]) {
        await client.callTool(`test_mrtr_${kind}`, {});
      }
    },
  },
  "json-schema-2020-12-preservation": {
    async run(client) {
      const tools = await client.listTools();
      const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
      await client.callTool("json_schema_echo", { schema });
    },
  },
};

/** How the scenarios about authorization get their tokens. Others let a person log in. */
const grants = {
  "auth/pre-registration": () => ({ ...ownClient(), issuer: context.issuer, login }),
  "auth/client-credentials-basic": () => ({ ...ownClient(), grant: "client_credentials" }),
  "auth/client-credentials-jwt": () => ({
    ...ownClient(),
    grant: "client_credentials",
    privateKey: context.private_key_pem,
    signingAlgorithm: context.signing_algorithm,
  }),
  "auth/enterprise-managed-authorization": viaIdentityProvider,
  "auth/cross-app-access-complete-flow": viaIdentityProvider,
  "auth/wif-jwt-bearer": () => ({ ...ownClient(), grant: "jwt_bearer", assertion: context.valid_jwt }),
};

/** A browser in which a person agrees at once. */
const login = {
  openRedirect: () =>
    Promise.resolve({
      uri: REDIRECT_URI,
      async visit(page) {
        const response = await fetch(page, { redirect: "manual" });
        return new URL(response.headers.get("location"));
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
};

const needsAuthorization = scenario.startsWith("auth/");
const { input, run } = scenarios[scenario] ?? (needsAuthorization ? { run: useProtectedServer } : unknown());
const client = await connect(
  { url },
  {
    // The figures for authorization count the request with which a client finds out the era.
    era: version === MODERN ? "modern" : needsAuthorization ? "auto" : "legacy",
    ...(input && { input }),
    ...(needsAuthorization && { auth: grants[scenario]?.() ?? { clientMetadataUrl: METADATA_URL, login } }),
    clientInfo: { name: "nexus-conformance", version: "1" },
  },
);
try {
  await run(client);
} finally {
  await client.close();
}

async function useProtectedServer(client) {
  await client.listTools();
  await client.callTool("test-tool", {});
}

/** The client that the suite has registered. */
function ownClient() {
  return { clientId: context.client_id, clientSecret: context.client_secret };
}

function viaIdentityProvider() {
  return {
    ...ownClient(),
    grant: "enterprise",
    identityProvider: {
      issuer: context.idp_issuer,
      tokenEndpoint: context.idp_token_endpoint,
      clientId: context.idp_client_id,
      idToken: context.idp_id_token,
    },
  };
}

/** Loads each skill and reads all its files; one that is not what it was listed as is left alone. */
async function useSkills(client) {
  for (const entry of await client.skills.list()) {
    const skill = await client.skills.load(entry);
    for (const { uri } of entry.resources) if (uri !== entry.uri) await skill.read(uri);
  }
}

function unknown() {
  throw new Error(`no steps for scenario "${scenario}"`);
}

/** The smallest object that a flat schema accepts. */
function exampleOf(schema) {
  const examples = { string: "text", number: 1, integer: 1, boolean: true };
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, { type }]) => [name, examples[type] ?? null]),
  );
}
