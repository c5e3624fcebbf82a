import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileSecretStore } from "../secrets.ts";
import { FileCredentials } from "./credential-files.ts";
import type { StoredCredential } from "./stored-credential.ts";

let stateFolder: string;
const { platform } = process;
const open = () => new FileCredentials({ stateFolder, platform });
const A = "https://a.example/mcp";
const B = "https://b.example/mcp";

const credential = (server: string, accessToken = "token-1"): StoredCredential => ({
  server,
  issuer: "https://issuer.example",
  resource: server,
  client: { clientId: "client-1", clientSecret: "hidden-secret", by: "registration", authentication: "none" },
  tokens: { accessToken, type: "Bearer", refreshToken: "hidden-refresh", expiresAt: 2_000, obtainedAt: 1_000 },
  scopes: ["read"],
});

async function files(): Promise<string[]> {
  const folder = join(stateFolder, "credentials");
  return (await readdir(folder)).map((name) => join(folder, name));
}

beforeEach(async () => {
  stateFolder = await mkdtemp(join(tmpdir(), "nexus-credentials-"));
});
afterEach(() => rm(stateFolder, { recursive: true }));

test("nothing is written before a credential is kept", async () => {
  expect(await open().load(A)).toBeUndefined();
  expect(await open().list()).toEqual({ credentials: [], unreadable: [] });
  expect(await open().remove(A)).toBe(false);
  expect(await readdir(stateFolder)).toEqual([]);
});

test("a kept credential is found by another process, also after a change, until it is removed", async () => {
  const [one, other] = [open(), open()];
  await one.save(credential(A));
  expect(await other.load(`${A}#part`)).toEqual(credential(A));
  await one.save(credential(A, "token-2"));
  expect((await other.load(A))?.tokens?.accessToken).toBe("token-2");
  expect(await one.remove(A)).toBe(true);
  expect(await other.load(A)).toBeUndefined();
});

test("the list has no secret, and neither has a file (R8)", async () => {
  await open().save(credential(B));
  await open().save({ ...credential(A), tokens: undefined });
  const shown = { issuer: "https://issuer.example", clientId: "client-1", scopes: ["read"] };
  expect(await open().list()).toEqual({
    credentials: [
      { ...shown, server: A, hasToken: false, expiresAt: undefined, canRefresh: false },
      { ...shown, server: B, hasToken: true, expiresAt: 2_000, canRefresh: true },
    ],
    unreadable: [],
  });
  for (const file of await files()) {
    const content = `${file} ${(await readFile(file)).toString("latin1")}`;
    for (const word of ["hidden", "token-1", "example"]) expect(content).not.toContain(word);
    if (platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
});

test("a file in the place of another is refused with the way out, and the others stay usable", async () => {
  await open().save(credential(A));
  const [ofA] = await files();
  await open().save(credential(B));
  const ofB = (await files()).find((file) => file !== ofA);
  const before = await readFile(ofA ?? "");
  await rename(ofB ?? "", ofA ?? "");
  await expect(open().load(A)).rejects.toMatchObject({
    code: "AUTH_REQUIRED",
    message: expect.stringContaining(`The kept login for ${A} cannot be decrypted`) as string,
    hint: `Log in again: nexus mcp login ${A}`,
  });
  await writeFile(ofB ?? "", before.subarray(0, 9), { mode: 0o600 });
  await expect(open().load(B)).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  await open().save(credential(B));
  expect(await open().list()).toMatchObject({ credentials: [{ server: B }], unreadable: [ofA] });
});

test("secrets and credentials share one key, whichever came first", async () => {
  const secrets = new FileSecretStore({ folder: join(stateFolder, "secrets"), platform });
  await open().save(credential(A));
  await secrets.set("a", "1");
  expect(await open().load(A)).toEqual(credential(A));
  await rm(join(stateFolder, "secrets", "key"));
  await secrets.remove("a");
  // A new key would make the credential unreadable.
  await expect(secrets.set("b", "2")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(open().save(credential(B))).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("work on one server's credential excludes other work on it, and not that of other servers", async () => {
  const seen: string[] = [];
  let second: Promise<void> | undefined;
  await open().exclusively(A, async () => {
    second = open().exclusively(A, async () => void seen.push("second"));
    await open().exclusively(B, async () => void seen.push("other server"));
    seen.push("first");
  });
  await second;
  expect(seen).toEqual(["other server", "first", "second"]);
});
