import { once } from "node:events";
import { chmod } from "node:fs/promises";
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AuthorizationServer } from "../fixtures/auth/authorization-server.ts";
import { ProtectedServer } from "../fixtures/auth/protected-server.ts";
import { ScriptedBrowser } from "../fixtures/auth/scripted-browser.ts";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";

let world: NexusWorld;
let authorization: AuthorizationServer;
let notes: ProtectedServer;
let open: HttpFixture;

beforeAll(async () => {
  [world, authorization, open] = await Promise.all([
    NexusWorld.open(),
    AuthorizationServer.start(),
    startHttpFixture(),
  ]);
  notes = await ProtectedServer.start(authorization);
  await world.configure({
    notes: { url: notes.url },
    open: { url: open.url },
    files: { command: "no-such-program" },
    fixed: { url: notes.url, headers: { Authorization: "Bearer of-the-entry" } },
    gone: { url: "http://127.0.0.1:9/mcp" },
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await Promise.all([notes.close(), authorization.close(), open.close()]);
});

interface Started {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
}

/** Waits until the program has written something that matches. */
async function written({ child, output }: Started, pattern: RegExp): Promise<RegExpExecArray> {
  const all = () => pattern.exec(output.stdout + output.stderr);
  for (let found = all(); ; found = all()) {
    if (found) return found;
    if (child.exitCode !== null) throw new Error(`ended without ${pattern}: ${output.stdout}${output.stderr}`);
    await Promise.race([once(child.stdout!, "data"), once(child.stderr!, "data"), once(child, "close")]);
  }
}

async function ended({ child }: Started): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, "close")) as [number | null];
  return code;
}

const pageOf = async (started: Started) => (await written(started, /^ {2}(http\S+authorize\S+)\r?\n/m))[1] ?? "";

test("N3: a login with the browser is kept, used, listed without secrets, and ended by logout", async () => {
  const browser = await world.write("browser.sh", `#!/bin/sh\nprintf '%s' "$1" > "$HOME/opened"\n`);
  await chmod(browser, 0o755);
  const login = world.start(["mcp", "login", "notes"], { env: { BROWSER: browser } });
  const page = await pageOf(login);
  if (process.platform !== "win32") {
    await expect.poll(() => world.read("home/opened").catch(() => ""), { timeout: 20_000 }).toBe(page);
  }
  const { status, text } = await new ScriptedBrowser().open(page);
  expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining("close this window") as string });
  expect(await ended(login)).toBe(0);
  expect(login.output.stdout).toMatch(/^Logged in to notes\n[^]*valid for 60 min, renewed automatically/);
  expect(login.output.stderr).toContain(`Log in to notes at ${new URL(authorization.issuer).host}.`);

  const call = await world.run(["mcp", "call", "notes.echo", "--arg", "text=hello"]);
  expect(call).toMatchObject({ code: 0, stdout: "hello\n" });

  const list = await world.run(["mcp", "login", "--list", "--json"]);
  expect(JSON.parse(list.stdout)).toMatchObject({
    items: [{ servers: ["notes"], url: notes.url, issuer: authorization.issuer, state: "valid" }],
    errors: [],
  });
  const servers = await world.run(["mcp", "servers"]);
  expect(servers.stdout).toMatch(/^notes +modern \S+, just now +logged in +http/m);
  expect(servers.stdout).toMatch(/^fixed +not used yet +http/m);
  const doctor = await world.run(["mcp", "doctor", "notes"]);
  expect(doctor.stdout).toContain("accepted, with the kept login: valid for 60 min, renewed automatically");

  const logout = await world.run(["mcp", "logout", "notes"]);
  expect(logout).toMatchObject({ code: 0, stderr: "" });
  expect(logout.stdout).toContain("The tokens were removed from this machine and revoked.");
  const after = JSON.parse((await world.run(["mcp", "servers", "--json"])).stdout) as { servers: { id: string }[] };
  expect(after.servers.find(({ id }) => id === "notes")).toMatchObject({ login: { state: "needed" } });
  expect(after.servers.find(({ id }) => id === "open")).not.toHaveProperty("login");
  const shown = [
    servers.stdout,
    login.output.stdout,
    login.output.stderr,
    list.stdout,
    doctor.stdout,
    logout.stdout,
  ].join("\n");
  for (const secret of authorization.secrets) expect(shown).not.toContain(secret);
  expect((await world.run(["mcp", "logout", "notes"])).stdout).toContain("There is no login to notes");
  expect((await world.run(["mcp", "login", "--list"])).stderr).toContain("No logins are kept.");
});

test("N3: --no-browser takes the address from stdin, also for a URL that is not configured", async () => {
  const login = world.start(["mcp", "login", notes.url, "--no-browser", "--scope", "mcp:use", "--json"]);
  const [, page = ""] = await written(login, /"url":"([^"]+)"/);
  const redirectUri = new URL(page).searchParams.get("redirect_uri") ?? "";
  const answer = await new ScriptedBrowser().authorize(page, redirectUri);
  const wrong = new URL(answer);
  wrong.searchParams.set("state", "other");
  login.child.stdin?.write(`${wrong.href}\n${answer.href}\n`);
  expect(await ended(login)).toBe(0);
  expect(JSON.parse(login.output.stdout)).toMatchObject({ url: notes.url, scopes: ["mcp:use"], state: "valid" });
  expect((await world.run(["mcp", "tools", "notes"])).code).toBe(0);
  expect((await world.run(["mcp", "logout", "--url", notes.url, "--json"])).stdout).toContain('"revoked":true');
});

test("N3: --device shows a code and waits for the person", async () => {
  const login = world.start(["mcp", "login", "notes", "--device"]);
  const [, userCode = ""] = await written(login, /enter the code (\S+)/);
  const [, page = ""] = await written(login, /^ {2}(http\S+)\n/m);
  await new ScriptedBrowser().enterCode(page, userCode);
  expect(await ended(login)).toBe(0);
  expect((await world.run(["mcp", "call", "notes.echo", "--arg", "text=1"])).stdout).toBe("1\n");
  await world.run(["mcp", "logout", "notes"]);
});

test("a login that the person refuses, that takes too long or is interrupted ends with 8, 7 or 130", async () => {
  authorization.consent = "refused";
  try {
    const refused = world.start(["mcp", "login", "notes"]);
    await new ScriptedBrowser().open(await pageOf(refused));
    expect(await ended(refused)).toBe(8);
    expect(refused.output.stderr).toContain('The authorization server answered "access_denied: The person refused"');
  } finally {
    authorization.consent = "given";
  }
  const late = await world.run(["mcp", "login", "notes", "--timeout", "50ms"]);
  expect(late).toMatchObject({ code: 7, stderr: expect.stringContaining("was not completed within 50 ms") as string });

  const interrupted = world.start(["mcp", "login", "notes"]);
  await pageOf(interrupted);
  interrupted.child.kill("SIGINT");
  expect(await ended(interrupted)).toBe(130);
});

test.each([
  ["files", 2, "is a program on this machine, so it has no login"],
  ["fixed", 2, "has credentials of its own in its entry"],
  ["open", 2, "requires no login"],
  ["nowhere", 6, "nowhere"],
  ["gone", 4, "127.0.0.1:9"],
])("P1.9: nexus mcp login %s ends with %i and says why", async (server, code, message) => {
  const ran = await world.run(["mcp", "login", server]);
  expect(ran).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(message) as string });
});

test("P1.9: a server that requires a login is an error with the command to run", async () => {
  for (const command of [
    ["tools", "notes"],
    ["connect", "notes"],
    ["call", "notes.echo"],
  ]) {
    const { code, stderr } = await world.run(["mcp", ...command]);
    expect({ code, stderr }).toEqual({ code: 8, stderr: expect.stringContaining('Run "nexus mcp login notes"') });
  }
  const { code, stderr } = await world.run(["mcp", "tools", "--url", notes.url]);
  expect({ code, stderr }).toEqual({
    code: 8,
    stderr: expect.stringContaining(`Run "nexus mcp login --url ${notes.url}"`) as string,
  });
});

test("P1.9: doctor shows each step on the way to a login and its answer", async () => {
  const { code, stdout } = await world.run(["mcp", "doctor", "notes"]);
  expect(code).toBe(8);
  const { origin } = new URL(notes.url);
  for (const line of [
    `requires: ${notes.challenge}`,
    `GET ${origin}/.well-known/oauth-protected-resource/mcp: HTTP 200`,
    `GET ${authorization.issuer}/.well-known/oauth-authorization-server: HTTP 200`,
    `issuer: ${authorization.issuer} (named by the metadata of the server)`,
    "client: is registered by the login (dynamic registration)",
    "login: none is kept",
    `Run "nexus mcp login notes"`,
  ]) {
    expect(stdout).toContain(line);
  }
});

test.runIf(HAS_TERMINAL)("on a terminal, a login is offered, and the command goes on after it", async () => {
  const tools = world.inTerminal(["mcp", "tools", "notes"]);
  await written(tools, /Log in to notes now\? \[y\/N\]/);
  tools.child.stdin?.write("y\n");
  const page = await pageOf(tools);
  await written(tools, /Address: /);
  const answer = await new ScriptedBrowser().authorize(page, new URL(page).searchParams.get("redirect_uri") ?? "");
  tools.child.stdin?.write(`${answer.href}\n`);
  expect(await ended(tools)).toBe(0);
  expect(tools.output.stdout).toContain("2 tools from notes");
  await world.run(["mcp", "logout", "notes"]);

  const declined = world.inTerminal(["mcp", "tools", "notes"]);
  await written(declined, /Log in to notes now\? \[y\/N\]/);
  declined.child.stdin?.write("\n");
  expect(await ended(declined)).toBe(8);
});
