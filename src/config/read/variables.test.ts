import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../../test/fixtures/config-world.ts";
import { FileSecretStore } from "../../auth/secrets.ts";

test.for([
  ["${A}", "one"],
  ["${env:A}", "one"],
  ["x${A}y${A}", "xoneyone"],
  ["${NONE:-default}", "default"],
  ["${EMPTY}", ""],
  ["${EMPTY:-default}", "default"],
  ["${NONE:-}", ""],
  ["${env:NONE:-d}", "d"],
  ["${NONE:-${A}}", "one"],
  ["${NONE:-{}}", "{}"],
  ["$${A}", "${A}"],
  ["${TRICK}", "${A}"],
  ["${1} $A ${", "${1} $A ${"],
  ["${userHome}", "HOME"],
] as const)("N12: %s becomes %s", async ([text, filled]) => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText(
    "a.json",
    { servers: { a: { command: "x", args: [text] } } },
    { home: "HOME", variables: { A: "one", EMPTY: "", TRICK: "${A}" } },
  );
  expect(servers[0]?.problem).toBeUndefined();
  expect(servers[0]?.entry?.reach).toMatchObject({ args: [filled] });
});

test("N12: variables are resolved in every string of an entry, and in no key", async () => {
  await using world = await ConfigWorld.open();
  const entry = { command: "${A}", cwd: "/${A}", env: { "${A}": "${A}" }, timeout: "${A}s", roots: ["/${A}"] };
  const { servers } = await world.loadText("a.json", { servers: { a: entry } }, { variables: { A: "1" } });
  expect(servers[0]?.entry).toMatchObject({
    reach: { command: "1", cwd: "/1", env: { "${A}": "1" } },
    timeoutMs: 1000,
    roots: [{ uri: "file:///1" }],
  });
});

test("P1.9: an unset variable names itself, the server and the line, and fails that server only", async () => {
  await using world = await ConfigWorld.open();
  const text = `{ "mcpServers": {\n  "a": { "command": "x", "env": {\n    "T": "\${GITHUB_TOKN}" } },\n  "b": { "command": "y" } } }`;
  const { servers } = await world.loadText("a.json", text, { variables: { GITHUB_TOKEN: "secret" } });
  expect(servers[1]?.problem).toBeUndefined();
  expect(world.told(servers[0]?.problem)).toBe(
    `Server "a": the variable GITHUB_TOKN is not set
a.json:3:10 (explicit)
x
Set it (export GITHUB_TOKN=value), or add a default: \${GITHUB_TOKN:-value}. Did you mean GITHUB_TOKEN? It is set.`,
  );
  const onWindows = await world.loadText("a.json", text, { platform: "win32" });
  expect(onWindows.servers[0]?.problem?.hint).toContain(`$env:GITHUB_TOKN = "value"`);
});

test("P1.9: all missing variables are named at once, and references of other programs are recognised", async () => {
  await using world = await ConfigWorld.open();
  const texts = ["${A}", "${constructor}", "${secret:s}", "${input:i}", "${command:pick}", "${A}"];
  const env = Object.fromEntries(texts.map((text, index) => [`V${index}`, text]));
  const { servers } = await world.loadText("a.json", {
    inputs: [{ id: "i", type: "promptString", description: "Your token", password: true }],
    servers: { a: { command: "x", env } },
  });
  expect(servers[0]?.problem?.message).toBe(
    `Server "a": the variable A is not set, the variable constructor is not set, the secret "s" is not stored, the input "i" (Your token) has no answer, \${command:pick} is not a known variable`,
  );
});

test("P1.9: for the answer of a password input the hint stores a secret, and never writes it into the file", async () => {
  await using world = await ConfigWorld.open();
  const hintOf = async (password: boolean) => {
    const inputs = [{ id: "i", type: "promptString", password }];
    const { servers } = await world.loadText("a.json", {
      inputs,
      servers: { a: { command: "x", env: { T: "${input:i}" } } },
    });
    return servers[0]?.problem?.hint;
  };
  expect(await hintOf(true)).toBe("Store it: nexus secrets set i. Then write ${secret:i} instead of ${input:i}.");
  expect(await hintOf(false)).toContain('Add a "default" in "inputs"');
});

test("P1.9: if very many variables are missing, the first are named", async () => {
  await using world = await ConfigWorld.open();
  const args = Array.from({ length: 20_000 }, (_, index) => `\${V${index}}`);
  const { servers } = await world.loadText("a.json", { servers: { a: { command: "x", args } } });
  expect(servers[0]?.problem?.message).toMatch(/the variable V9 is not set, and 19990 more$/);
});

test("N12: names of variables have no case on Windows", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText(
    "a.json",
    { servers: { a: { url: "http://a/${path}" } } },
    { platform: "win32", variables: { Path: "p" } },
  );
  expect(servers[0]?.entry?.reach).toMatchObject({ url: "http://a/p" });
});

test("P0: inputs are asked for; their default is used if there is no answer", async () => {
  await using world = await ConfigWorld.open();
  const content = {
    inputs: [
      { id: "token", description: "Your token", password: true },
      { id: "region", default: "eu" },
    ],
    servers: { a: { url: "http://a/", headers: { T: "${input:token}", R: "${input:region}" } } },
  };
  const asked: string[] = [];
  const { servers } = await world.loadText("a.json", content, {
    askInput: ({ id, description }) => {
      asked.push(`${id}: ${description}`);
      return Promise.resolve(id === "token" ? "t" : undefined);
    },
  });
  expect(asked).toEqual(["token: Your token", "region: undefined"]);
  expect(servers[0]?.entry?.reach).toMatchObject({ headers: { T: "t", R: "eu" } });
});

test("P0: resolved values are only in the entry; errors use the written text", async () => {
  await using world = await ConfigWorld.open();
  const { servers } = await world.loadText(
    "a.json",
    {
      servers: {
        a: { command: "x", args: ["--token", "${T}"] },
        b: { url: "https://a/?key=${T}" },
        c: { command: "x", env: { T: "${T}" } },
      },
    },
    { variables: { T: "secret" } },
  );
  expect(servers.map(({ written }) => written)).toEqual([
    { command: "x --token ${T}" },
    { url: "https://a/?key=${T}" },
    undefined,
  ]);
  expect(servers[0]?.entry?.reach).toMatchObject({ args: ["--token", "secret"] });
});

test("P0: ${file:path}, and opencode's {file:path}, are the text of a file beside the configuration or at home", async () => {
  await using world = await ConfigWorld.open();
  await world.write("token", "  from a file \n");
  await world.write("home/token", "from home");
  const remote = (value: string) => ({ type: "remote", url: "https://a/", headers: { A: value } });
  const { servers } = await world.loadText("opencode.json", {
    mcp: {
      a: remote("Bearer {file:./token}"),
      b: remote("{file:~/token}"),
      c: remote("{file:none}"),
      d: remote("{file:home}"),
      e: remote("${file:none:-default}"),
    },
  });
  const headers = servers.map(({ entry }) => (entry?.reach.kind === "http" ? entry.reach.headers["A"] : undefined));
  expect(headers).toEqual(["Bearer from a file", "from home", undefined, undefined, "default"]);
  expect(world.told(servers[2]?.problem)).toContain(`Server "c": the file none does not exist`);
  expect(servers[3]?.problem?.message).toContain(`file "home": It is a folder, a pipe or a device`);
});

test("P0: an envFile adds variables below env; a missing one is a problem of its server only", async () => {
  await using world = await ConfigWorld.open();
  await world.write(".env", `# mine\nA=file\nexport B="two words"\nC=\${HOME}\n`);
  const content = {
    servers: {
      a: { command: "x", envFile: "${workspaceFolder}/.env", env: { A: "entry" } },
      b: { command: "x", envFile: ".env" },
      c: { command: "x", envFile: "none.env" },
      d: { command: "x", envFile: 1 },
    },
  };
  const { servers, warnings } = await world.loadText("a.json", content);
  expect(warnings).toEqual([]);
  const env = servers.map(({ entry }) => (entry?.reach.kind === "stdio" ? entry.reach.env : undefined));
  expect(env).toEqual([
    { A: "entry", B: "two words", C: "${HOME}" },
    { A: "file", B: "two words", C: "${HOME}" },
    undefined,
    undefined,
  ]);
  expect(world.told(servers[2]?.problem)).toContain(`Server "c": the "envFile" none.env does not exist`);
  expect(servers[3]?.problem?.message).toBe(`Server "d": "envFile" is not a path`);
});

test("without trust neither files nor variables of files are read", async () => {
  await using world = await ConfigWorld.open();
  await world.write("home/work/project/.env", "A=secret");
  await world.write("home/work/project/.mcp.json", {
    mcpServers: { a: { command: "${file:.env}", envFile: ".env" }, b: { command: "x", envFile: "none" } },
  });
  const { servers } = await world.load();
  expect(JSON.stringify(servers)).not.toContain("secret");
  expect(servers.map(({ problem }) => problem)).toEqual([undefined, undefined]);
});

test("P0: secrets come from their store; one that cannot be read fails its server only", async () => {
  await using world = await ConfigWorld.open();
  const folder = join(world.root, "secrets");
  const secrets = new FileSecretStore({ folder, platform: process.platform });
  await secrets.set("bad", "b");
  const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".secret"));
  await world.write(join("secrets", file), "damaged, but long enough to be something");
  await secrets.set("good", "g");
  const { servers } = await world.loadText(
    "a.json",
    {
      servers: { a: { command: "x", env: { T: "${secret:bad}" } }, b: { command: "x", env: { T: "${secret:good}" } } },
    },
    { secrets },
  );
  expect(servers[0]?.problem?.message).toBe(`Server "a": secret "bad": A stored secret cannot be decrypted`);
  expect(servers[1]?.entry?.reach).toMatchObject({ env: { T: "g" } });
});

test("X9: a secret that is not allowed for an address is not resolved for it; programs get all secrets", async () => {
  await using world = await ConfigWorld.open();
  const secrets = new FileSecretStore({ folder: join(world.root, "secrets"), platform: process.platform });
  await secrets.set("bound", "b", ["https://one.example"]);
  await secrets.set("new", "n");
  const { servers } = await world.loadText(
    "a.json",
    {
      servers: {
        allowed: { url: "https://one.example/mcp", headers: { a: "${secret:bound}", b: "${secret:new}" } },
        "by-host": { url: "https://two.example/mcp", headers: { a: "${secret:bound}" } },
        "by-port": { url: "https://one.example:8443/mcp", headers: { a: "${secret:bound}" } },
        "by-scheme": { url: "http://one.example/mcp?key=${secret:bound}" },
        program: { command: "x", env: { B: "${secret:bound}", N: "${secret:new}" } },
      },
    },
    { secrets },
  );
  const [allowed, ...others] = servers;
  expect(allowed).toMatchObject({ secretsToBind: { names: ["new"], origin: "https://one.example" } });
  expect(allowed?.entry?.reach).toMatchObject({ headers: { a: "b", b: "n" } });
  const [program] = others.splice(-1);
  expect(program?.entry?.reach).toMatchObject({ env: { B: "b", N: "n" } });
  expect(program?.secretsToBind).toBeUndefined();
  expect(others.map(({ entry }) => entry)).toEqual([undefined, undefined, undefined]);
  expect(others.map(({ problem }) => problem?.message)).toEqual([
    "The secret bound may not be sent to https://two.example. Nothing was sent",
    "The secret bound may not be sent to https://one.example:8443. Nothing was sent",
    "The secret bound may not be sent to http://one.example. Nothing was sent",
  ]);
});

test.each([
  ["https://one.example/", undefined],
  ["${PATH_OF}", undefined],
  ["${FRAGMENT_OF}", 'Server "a": "url" has ${secret:key} outside of its path and its query'],
  ["https://one.example${A}", 'Server "a": "url" has ${secret:key} outside of its path and its query'],
])(
  "an address of %s and very many secrets is read in linear time (X15)",
  async (beginning, message) => {
    await using world = await ConfigWorld.open();
    const variables = { A: "a", PATH_OF: "https://one.example/b/", FRAGMENT_OF: "https://one.example/#" };
    const url = beginning + "${secret:key}".repeat(75_000);
    const secrets = { get: async () => ({ value: "k".repeat(30) }) } as unknown as FileSecretStore;
    const { servers } = await world.loadText("a.json", { servers: { a: { url } } }, { variables, secrets });
    expect(servers[0]?.problem?.message).toBe(message);
  },
  20_000,
);
