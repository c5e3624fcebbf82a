import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigWorld } from "../../test/fixtures/config-world.ts";
import { FileSecretStore } from "../auth/secrets.ts";

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

test("N12: variables are filled in in every string of an entry, and in no key", async () => {
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
Set it (export GITHUB_TOKN=value), or write a default: \${GITHUB_TOKN:-value}. GITHUB_TOKEN is set: did you mean that?`,
  );
  const onWindows = await world.loadText("a.json", text, { platform: "win32" });
  expect(onWindows.servers[0]?.problem?.hint).toContain(`$env:GITHUB_TOKN = "value"`);
});

test("P1.9: all that is missing is named at once, and other programs' references are told apart", async () => {
  await using world = await ConfigWorld.open();
  const args = ["${A}", "${constructor}", "${secret:s}", "${input:i}", "${command:pick}", "${A}"];
  const { servers } = await world.loadText("a.json", {
    inputs: [{ id: "i", type: "promptString", description: "Your token", password: true }],
    servers: { a: { command: "x", args } },
  });
  expect(servers[0]?.problem?.message).toBe(
    `Server "a": the variable A is not set, the variable constructor is not set, there is no secret "s", the input "i" (Your token) has no answer, \${command:pick} cannot be filled in`,
  );
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

test("P0: inputs are asked for, with their default where nobody answers", async () => {
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

test("P0: secrets come from their store; one that cannot be read fails its server only", async () => {
  await using world = await ConfigWorld.open();
  const folder = join(world.root, "secrets");
  const secrets = new FileSecretStore({ folder, platform: process.platform });
  await secrets.set("good", "g");
  await secrets.set("bad", "b");
  const file = `${createHash("sha256").update("bad").digest("hex")}.secret`;
  await world.write(join("secrets", file), "damaged, but long enough to be something");
  const { servers } = await world.loadText(
    "a.json",
    { servers: { a: { command: "x", args: ["${secret:bad}"] }, b: { command: "${secret:good}" } } },
    { secrets },
  );
  expect(servers[0]?.problem?.message).toBe(`Server "a": secret "bad": A stored secret cannot be decrypted`);
  expect(servers[1]?.entry?.reach).toMatchObject({ command: "g" });
});
