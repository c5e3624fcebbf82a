import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const world = await NexusWorld.open();

afterAll(() => world[Symbol.asyncDispose]());

test("a secret comes from stdin, is used by an entry, listed by its name, and removed", async () => {
  const set = await world.run(["secrets", "set", "demo"], { stdin: "hunter2\n" });
  const lines = [
    "Stored the secret demo. Entries use it as ${secret:demo}.",
    "It may be sent to the first address it is used with.",
  ];
  expect(set).toEqual({ code: 0, stdout: `${lines.join("\n")}\n`, stderr: "" });
  expect(JSON.parse((await world.run(["secrets", "set", "other", "--json"], { stdin: "x" })).stdout)).toEqual({
    name: "other",
    origins: [],
  });
  expect((await world.run(["secrets", "list"])).stdout).toBe("demo   not sent yet\nother  not sent yet\n");
  expect(JSON.parse((await world.run(["secrets", "list", "--json"])).stdout)).toEqual({
    items: [
      { name: "demo", origins: [] },
      { name: "other", origins: [] },
    ],
    errors: [],
  });

  const { command, args } = stdioFixture();
  const added = await world.run(["mcp", "add", "every", "--env", "KEY=${secret:demo}", "--", command, ...args]);
  expect(added.stdout).toContain("It works:");
  expect(added.stderr).toBe("");
  expect((await world.run(["secrets", "remove", "demo"])).stdout).toBe("Removed the secret demo.\n");
  const missing = await world.run(["mcp", "ping", "every"]);
  expect(missing.code).toBe(3);
  expect(missing.stderr).toContain("nexus secrets set demo");
});

test("only the line end at its end is no part of a secret, and nothing of it is stored as text", async () => {
  const pem = "-----BEGIN KEY-----\r\nhunter2 ü\r\n\r\n";
  expect((await world.run(["secrets", "set", "pem"], { stdin: pem })).code).toBe(0);
  // As numbers: secrets themselves are hidden in what servers write, in hexadecimal digits as well.
  await world.write("print.cjs", "process.stderr.write(Buffer.from(process.env.PEM).join(' ')); process.exit(1)");
  const print = join(world.root, "print.cjs");
  const shown = await world.run(["mcp", "add", "print", "--env", "PEM=${secret:pem}", "--", process.execPath, print]);
  expect(shown.stderr).toContain(Buffer.from("-----BEGIN KEY-----\r\nhunter2 ü\r\n").join(" "));

  const folder = join(world.home, ".local/state/nexus/secrets");
  const files = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), "latin1")));
  expect(files.join("")).not.toContain("hunter2");
});

test("a value on the command line is refused with the reason, and not repeated", async () => {
  for (const words of [["demo", "hunter2"], ["demo=hunter2"]]) {
    const { code, stdout, stderr } = await world.run(["secrets", "set", ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain("arguments are stored in the shell's history");
    expect(stderr).toContain("nexus secrets set demo");
    expect(stdout + stderr).not.toContain("hunter2");
  }
});

test("P1.9: names and values that cannot be, and secrets that are not there, say what to do", async () => {
  const [name, empty, binary, unknown] = await Promise.all([
    world.run(["secrets", "set", "a b"], { stdin: "x" }),
    world.run(["secrets", "set", "empty"], { stdin: "\n" }),
    world.shell(`printf '\\377' | $NEXUS secrets set binary`),
    world.run(["secrets", "remove", "othre"]),
  ]);
  expect(name).toMatchObject({ code: 2, stderr: expect.stringContaining("letters, digits, dots") as string });
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('" is empty') as string });
  expect(binary).toMatchObject({ code: 2, stderr: expect.stringContaining("not UTF-8 text") as string });
  expect(unknown).toMatchObject({ code: 6, stderr: expect.stringContaining(`Did you mean "other"?`) as string });
  const json = await world.run(["secrets", "remove", "nothing", "--json"]);
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "NAME_UNKNOWN" } });
});

test.runIf(HAS_TERMINAL)("on a terminal the value is asked for, and not shown", async () => {
  const { child, output } = world.inTerminal(["secrets", "set", "typed", "--no-color"]);
  await expect.poll(() => output.stdout).toContain("Value of typed (not shown): ");
  child.stdin?.write("hunter2\r");
  const [code] = (await once(child, "close")) as [unknown];
  expect(code).toBe(0);
  expect(output.stdout).toContain("Stored the secret typed.");
  expect(output.stdout).not.toContain("hunter2");
});

test.runIf(HAS_TERMINAL)("Ctrl-C at the question stores nothing", async () => {
  const { child, output } = world.inTerminal(["secrets", "set", "waiting"]);
  await expect.poll(() => output.stdout).toContain("Value of waiting (not shown): ");
  child.stdin?.write("half\u0003");
  const [code] = (await once(child, "close")) as [unknown];
  expect(code).toBe(130);
  expect((await world.run(["secrets", "list"])).stdout).not.toContain("waiting");
});

test("P1.9: of secrets one of which is damaged, the others are listed, and it is told", async () => {
  await using other = await NexusWorld.open();
  await other.run(["secrets", "set", "lost"], { stdin: "x" });
  const folder = join(other.home, ".local/state/nexus/secrets");
  const [damaged = ""] = (await readdir(folder)).filter((name) => name.endsWith(".secret"));
  await writeFile(join(folder, damaged), "damaged");
  await other.run(["secrets", "set", "kept"], { stdin: "x" });
  expect(await other.run(["secrets", "list"])).toEqual({
    code: 0,
    stdout: "kept  not sent yet\n",
    stderr:
      "warning: One stored secret cannot be decrypted, and their names are unknown. Set the missing secrets again.\n",
  });
  expect(JSON.parse((await other.run(["secrets", "list", "--json"])).stdout)).toMatchObject({
    items: [{ name: "kept", origins: [] }],
    errors: [{ code: "PERMISSION_DENIED" }],
  });
});

test("a short secret is stored with a warning: it is not hidden everywhere", async () => {
  const { code, stderr } = await world.run(["secrets", "set", "pin"], { stdin: "675\n" });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^warning: pin has fewer than 6 characters\. .*use a longer value if possible\.\n$/);
  expect(stderr).not.toContain("675");
  expect((await world.run(["secrets", "remove", "pin"])).code).toBe(0);
});

test("nexus secrets allow adds an origin, which the list shows", async () => {
  await using other = await NexusWorld.open();
  await other.run(["secrets", "set", "shop.pin"], { stdin: "4711" });
  const first = await other.run(["secrets", "allow", "shop.pin", "https://Shop.example:443/"]);
  expect(first).toEqual({ code: 0, stdout: "The secret shop.pin may be sent to https://shop.example.\n", stderr: "" });
  const second = await other.run(["secrets", "allow", "shop.pin", "http://127.0.0.1:8080", "--json"]);
  const origins = ["http://127.0.0.1:8080", "https://shop.example"];
  expect(JSON.parse(second.stdout)).toEqual({ name: "shop.pin", origins });
  expect((await other.run(["secrets", "list"])).stdout).toBe(`shop.pin  ${origins.join(", ")}\n`);
  const again = await other.run(["secrets", "set", "shop.pin"], { stdin: "4712" });
  expect(again.stdout).toContain(`It may be sent to ${origins.join(", ")}.\n`);
  expect((await other.run(["complete-words", "--", "secrets", "allow", "sh"])).stdout).toBe("shop.pin\n");
});

test.each([
  ["shop.pin"],
  ["shop.pin", "shop.example"],
  ["shop.pin", "https://shop.example/path"],
  ["shop.pin", "https://user:word@shop.example"],
  ["shop.pin", "https://*.example"],
  ["shop.pin", "ftp://shop.example"],
  ["shop.pin", "file:///etc"],
  ["shop.pin", "*"],
  ["shop.pin", ""],
  ["shop.pin", "https://shop.example", "https://other.example"],
])("P1.9: nexus secrets allow %j %j is refused as wrong usage", async (...words) => {
  const { code, stdout, stderr } = await world.run(["secrets", "allow", ...words]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).not.toContain("word@");
});

test("P1.9: nexus secrets allow names the secret that was probably meant", async () => {
  const { code, stderr } = await world.run(["secrets", "allow", "othre", "https://shop.example"]);
  expect([code, stderr]).toEqual([6, expect.stringContaining(`Did you mean "other"?`)]);
});
