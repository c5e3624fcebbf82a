import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { AuthWorld } from "../fixtures/auth/auth-world.ts";
import { BrowserProgram } from "../fixtures/auth/browser-program.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { runShown, shownPattern, shownSessions } from "../fixtures/shown-commands.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = await readFile(join(root, "docs/guide/authorization.md"), "utf8");
/** The commands of a section of the guide. */
const sessionsOf = (title: string) => {
  const [section = ""] = guide.split(/^## /m).filter((each) => each.startsWith(`${title}\n`));
  return shownSessions(section);
};
const SERVER = "https://notes.example/mcp";
/** A text of the guide with the addresses of the test. */
const inTest = (text: string, { server, authorization }: AuthWorld) =>
  text
    .replaceAll(new URL(SERVER).origin, new URL(server.url).origin)
    .replaceAll("https://login.example", authorization.issuer)
    .replaceAll("login.example", new URL(authorization.issuer).host);
const secret = "not-a-real-secret-of-ci";
const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
const machine = { redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };
const clients = [
  { ...machine, client_id: "ci", client_secret: secret },
  {
    ...machine,
    client_id: "ci-key",
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "ES256",
    jwks: { keys: [{ ...key.publicKey.export({ format: "jwk" }), alg: "ES256", use: "sig" }] },
  },
];

async function runSessions(
  sessions: readonly { command: string; output: string }[],
  { world, nexus, env }: { world: AuthWorld; nexus: NexusWorld; env: Record<string, string> },
): Promise<void> {
  expect(sessions.length).toBeGreaterThan(0);
  for (const { command: line, output } of sessions) {
    const [command = "", exitCode = "0"] = line.split(/ +# exit code /);
    const shown = { root, home: nexus.home, folder: nexus.project, env };
    const ran = await runShown(inTest(command, world), shown);
    expect(ran, command).toMatchObject({ code: Number(exitCode) });
    expect(ran.output.trimEnd(), command).toMatch(shownPattern(inTest(output, world)));
    const secrets = [...world.authorization.secrets].filter((each) => ran.output.includes(each));
    expect(secrets, command).toEqual([]);
  }
}

const posix = test.runIf(process.platform !== "win32");

posix("N3: the guide leads from a refused call to a login, a list and a logout", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  await using browser = await BrowserProgram.start(nexus, world.browser);
  const context = { world, nexus, env: { BROWSER: browser.file } };

  await runSessions(sessionsOf("Log in"), context);
  await runSessions(sessionsOf("What is stored"), context);
  await runSessions(sessionsOf("If it does not work"), context);
});

posix("N3: the guide's configurations for CI need no person", async () => {
  await using world = await AuthWorld.open({ authorization: { clients } });
  await using nexus = await NexusWorld.open();
  const keyFile = join(nexus.root, "key.pem");
  await writeFile(keyFile, key.privateKey.export({ type: "pkcs8", format: "pem" }));
  await chmod(keyFile, 0o600);
  const configurations = [...guide.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text);

  expect(configurations).toHaveLength(2);
  for (const text of configurations) {
    await nexus.write("home/.nexus/mcp.json", inTest(text, world));
    const env = { NOTES_CLIENT_SECRET: secret, NOTES_KEY_FILE: keyFile };
    await runSessions(sessionsOf("In CI"), { world, nexus, env });
  }
  expect(world.authorization.tokenRequests("client_credentials")).toBeGreaterThan(0);
});

posix("N3: the guide's program logs in with its own handler, and the second time uses its own storage", async () => {
  await using world = await AuthWorld.open();
  await using nexus = await NexusWorld.open();
  // Inside the checkout, where the name of the package is known.
  const folder = join(root, "build/documents");
  await mkdir(folder, { recursive: true });
  const program = join(folder, "authorization-guide.mjs");
  await writeFile(program, /^```mjs\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? "");
  const env = { ...process.env, NOTES_URL: world.server.url, CREDENTIAL_FILE: join(nexus.root, "credential.json") };

  const first = run(process.execPath, [program], { env });
  first.child.stdout?.on("data", (text: string) => {
    const [, page] = /^Open (\S+)/.exec(text) ?? [];
    if (page !== undefined) world.browser.open(page).catch(() => {});
  });
  expect((await first).stdout).toMatch(/^Open http:.*\nhello\n$/);

  expect((await run(process.execPath, [program], { env })).stdout).toBe("hello\n");
});
