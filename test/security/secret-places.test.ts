import { expect, test } from "vitest";
import { newEntry } from "../../src/cli/configure/new-entry.ts";
import { failure } from "../fixtures/failure.ts";
import { checkNetworkServer } from "../../src/team/network-server.ts";
import { defineTenantServers } from "../../src/team/tenant-definitions.ts";
import { ConfigWorld } from "../fixtures/config-world.ts";

const VALUE = "hunter2-of-the-test";
const URL_OF = "https://one.example/mcp";
const secrets = { get: async () => ({ value: VALUE, origins: ["https://one.example"] }) };

/** A member of an entry with this text in it, and whether a secret is filled in there. */
const MEMBERS: readonly (readonly [
  member: string,
  fills: boolean,
  entry: (text: string) => Record<string, unknown>,
])[] = [
  ["name", false, (text) => ({ url: URL_OF, name: text })],
  ["type", false, (text) => ({ url: URL_OF, type: text })],
  ["prefix", false, (text) => ({ url: URL_OF, prefix: text })],
  ["isolation", false, (text) => ({ url: URL_OF, isolation: text })],
  ["timeout", false, (text) => ({ url: URL_OF, timeout: text })],
  ["tools.allow", false, (text) => ({ url: URL_OF, tools: { allow: [text] } })],
  ["agents", false, (text) => ({ url: URL_OF, agents: [text] })],
  ["pin", false, (text) => ({ url: URL_OF, pin: [text] })],
  ["public_only.allow", false, (text) => ({ url: URL_OF, public_only: { allow: [text] } })],
  ["url", false, (text) => ({ url: `https://${text}/mcp` })],
  ["url", false, (text) => ({ url: `https://${text}.one.example/mcp` })],
  ["url", false, (text) => ({ url: `https://ada:${text}@one.example/mcp` })],
  ["url", false, (text) => ({ url: `https:///${text}/mcp` })],
  ["url", false, (text) => ({ url: `https://\t/${text}/mcp` })],
  ["url", false, (text) => ({ url: `https://one.example:80${text}/mcp` })],
  ["url", false, (text) => ({ url: `${URL_OF}#${text}` })],
  ["url", false, (text) => ({ url: text })],
  ["url", false, (text) => ({ url: `\${NONE:-https://${text}/mcp}` })],
  ["url", true, (text) => ({ url: `https://one.example/${text}/mcp` })],
  ["url", true, (text) => ({ url: `${URL_OF}?key=${text}` })],
  ["headers", true, (text) => ({ url: URL_OF, headers: { authorization: `Bearer ${text}` } })],
  ["oauth.issuer", false, (text) => ({ url: URL_OF, oauth: { issuer: `https://${text}/` } })],
  ["oauth.clientId", false, (text) => ({ url: URL_OF, oauth: { clientId: text } })],
  ["oauth.client_name", false, (text) => ({ url: URL_OF, oauth: { client_name: text } })],
  ["oauth.clientSecret", true, (text) => ({ url: URL_OF, oauth: { clientId: "a", clientSecret: text } })],
  ["oauth.client_secret", true, (text) => ({ url: URL_OF, oauth: { client_id: "a", client_secret: text } })],
  ["oauth.privateKey", true, (text) => ({ url: URL_OF, oauth: { clientId: "a", privateKey: text } })],
  ["oauth.assertion", true, (text) => ({ url: URL_OF, oauth: { assertion: text } })],
  [
    "oauth.identityProvider.idToken",
    true,
    (text) => ({ url: URL_OF, oauth: { identityProvider: { issuer: URL_OF, clientId: "a", idToken: text } } }),
  ],
  [
    "oauth.identityProvider.tokenEndpoint",
    false,
    (text) => ({
      url: URL_OF,
      oauth: { identityProvider: { issuer: URL_OF, tokenEndpoint: text, clientId: "a", idToken: "b" } },
    }),
  ],
];

/** Members that only entries of this machine have. */
const LOCAL: typeof MEMBERS = [
  ["command", false, (text) => ({ command: text })],
  ["args", false, (text) => ({ command: "x", args: ["--key", text] })],
  ["args", false, (text) => ({ command: "x", args: [`--key=\${NONE:-${text}}`] })],
  ["cwd", false, (text) => ({ command: "x", cwd: `/${text}` })],
  ["roots", false, (text) => ({ command: "x", roots: [`/${text}`] })],
  ["envFile", false, (text) => ({ command: "x", envFile: text })],
  ["env_passthrough", false, (text) => ({ command: "x", env_passthrough: [text] })],
  ["ca", false, (text) => ({ url: URL_OF, ca: text })],
  ["api", false, (text) => ({ api: text })],
  ["upstream", false, (text) => ({ api: "a.yaml", upstream: text })],
  ["settings.region", false, (text) => ({ api: "a.yaml", settings: { region: text } })],
  ["env", true, (text) => ({ command: "x", env: { KEY: text } })],
];

const REFERENCES = [
  ["a stored secret", "${secret:key}"],
  ["an input of kind password", "${input:key}"],
] as const;

test.each(REFERENCES.flatMap((kind) => [...MEMBERS, ...LOCAL].map((member) => [...kind, ...member] as const)))(
  "in a file, %s (%s) in %s is filled in only where it is sent: %s (X9)",
  async (_kind, reference, member, fills, entry) => {
    await using world = await ConfigWorld.open();
    const inputs = [{ id: "key", password: true }];
    const content = JSON.stringify({ inputs, servers: { a: entry(reference) } }, undefined, 1);
    const { servers } = await world.loadText("a.json", content, {
      secrets: { ...NO_STORE, ...secrets },
      askInput: async () => VALUE,
    });
    const [server] = servers;
    if (fills) {
      expect(server?.problem).toBeUndefined();
      expect(JSON.stringify(server?.entry)).toContain(VALUE);
      return;
    }
    const line = content.split("\n").findIndex((text) => text.includes(reference)) + 1;
    expect(server?.problem).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`"${member}" has ${reference}`),
      details: { source: { line, column: expect.any(Number) }, hint: expect.any(String) },
    });
    expect(JSON.stringify(servers)).not.toContain(VALUE);
  },
);

test.each(MEMBERS)(
  "over REST and in the store of a tenant, a secret in %s is filled in only where it is sent: %s (X8, X9)",
  async (member, fills, entry) => {
    const posted = checkNetworkServer({ name: "a", entry: entry("${secret:key}") });
    const stored = async (origin: "local" | "network") => {
      const list = async () => ({ servers: [{ name: "a", entry: entry("${secret:key}"), origin }], unreadable: [] });
      const [server] = await defineTenantServers({ list } as never, {
        home: "/nonexistent",
        platform: "linux",
        variables: {},
        secrets,
      });
      return server;
    };
    const defined = [await stored("local"), await stored("network")];
    if (fills) {
      await posted;
      for (const server of defined) expect(JSON.stringify(server?.entry)).toContain(VALUE);
      return;
    }
    const said = { code: "CONFIG_INVALID", message: expect.stringContaining(`"${member}" has \${secret:key}`) };
    expect(await failure(posted)).toMatchObject(said);
    for (const server of defined) expect(server?.problem).toMatchObject(said);
    expect(JSON.stringify(defined)).not.toContain(VALUE);
  },
);

test.each(["${TOKEN}", "${env:TOKEN}", "${file:/etc/hostname}", "${userHome}", "${input:x}", "${command:x}"])(
  "over REST, %s is a problem that says what may be written (X8)",
  async (reference) => {
    const posted = checkNetworkServer({ name: "a", entry: { url: URL_OF, headers: { a: reference } } });
    expect(await failure(posted)).toMatchObject({
      code: "CONFIG_INVALID",
      message: `Server "a": ${reference} is not filled in, because the entry came over the network`,
      details: { hint: expect.stringContaining("${secret:NAME}") },
    });
  },
);

test.each([
  ["args", ["node", "x.js", "--key=${secret:key}"], {}],
  ["url", [], { url: "https://${secret:key}.example/mcp" }],
])("nexus mcp add writes no entry with a secret in %s (X9)", (member, command, options) => {
  const target = { file: "/home/mcp.json", layer: "user", folder: "/home" } as const;
  const add = () => newEntry("a", command, { ...options, target, from: "/home" });
  expect(add).toThrow(`Server "a": "${member}" has \${secret:key}`);
});

test("other variables are filled in every text of a file of this machine, and $${ stays text", async () => {
  await using world = await ConfigWorld.open();
  await world.write("part", "text");
  const entry = { name: "${A} ${file:part}", command: "${A}", args: ["$${secret:key}", "${input:open}"] };
  const { servers } = await world.loadText(
    "a.json",
    { inputs: [{ id: "open" }], servers: { a: entry } },
    { variables: { A: "b" }, askInput: async () => "c" },
  );
  expect(servers[0]).toMatchObject({
    name: "b text",
    entry: { reach: { command: "b", args: ["${secret:key}", "c"] } },
  });
});

const NO_STORE = {
  set: () => Promise.reject(new Error("not here")),
  allow: async () => undefined,
  bind: async () => undefined,
  adopt: async () => undefined,
  remove: async () => false,
  list: async () => ({ secrets: [], unreadable: 0 }),
};
