import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileSecretStore } from "./secrets.ts";

let folder: string;
const open = (at = folder) => new FileSecretStore({ folder: join(at, "secrets"), platform: process.platform });
const files = async () => (await readdir(join(folder, "secrets"))).map((name) => join(folder, "secrets", name));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-secrets-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("what was stored is found again, by another store too, and listed by name only", async () => {
  await open().set("github", "tökén");
  await open().set("aws.key", "");
  expect(await open().get("github")).toBe("tökén");
  expect(await open().get("aws.key")).toBe("");
  expect(await open().get("nothing")).toBeUndefined();
  expect(await open().list()).toEqual({ names: ["aws.key", "github"], unreadable: 0 });
  await open().set("github", "new");
  expect(await open().get("github")).toBe("new");
  expect(await open().remove("github")).toBe(true);
  expect(await open().remove("github")).toBe(false);
  expect(await open().list()).toEqual({ names: ["aws.key"], unreadable: 0 });
});

test("an empty store has nothing, and makes no files", async () => {
  expect(await open().list()).toEqual({ names: [], unreadable: 0 });
  expect(await open().get("a")).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
});

test("neither value nor name can be read from the files, and the same value looks different each time", async () => {
  await open().set("github-name", "the-secret-value");
  const [first] = await Promise.all(
    (await files()).filter((file) => file.endsWith(".secret")).map((file) => readFile(file)),
  );
  await open().set("github-name", "the-secret-value");
  for (const file of await files()) {
    const content = await readFile(file);
    expect(file).not.toContain("github-name");
    expect(content.includes("the-secret-value") || content.includes("github-name")).toBe(false);
    expect(content.equals(first!)).toBe(false);
  }
});

test.skipIf(process.platform === "win32")(
  "all files are their owner's alone; a key that others can read is refused",
  async () => {
    await open().set("a", "1");
    for (const file of await files()) expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "secrets"))).mode & 0o777).toBe(0o700);
    await chmod(join(folder, "secrets/key"), 0o644);
    await expect(open().get("a")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  },
);

test("files that were changed or exchanged are noticed, and the error tells no secret", async () => {
  await open().set("a", "value-a");
  await open().set("b", "value-b");
  const [one, two] = (await files()).filter((file) => file.endsWith(".secret"));
  await rename(one!, two!);
  const results = await Promise.allSettled([open().get("a"), open().get("b")]);
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
  expect(reasons).toEqual(["NexusError: A stored secret cannot be decrypted"]);
});

test("one file that cannot be read costs the list only its own name", async () => {
  await open().set("a", "1");
  const damaged = (await files()).find((file) => file.endsWith(".secret"));
  await open().set("b", "2");
  await writeFile(damaged!, "x");
  expect(await open().list()).toEqual({ names: ["b"], unreadable: 1 });
});

test("a key that was damaged or lost is told, and no other is made in its place", async () => {
  await open().set("a", "1");
  await writeFile(join(folder, "secrets/key"), "short");
  for (const failing of [() => open().set("b", "2"), () => open().get("a"), () => open().list()]) {
    await expect(failing()).rejects.toThrow("The key of the secrets has 5 bytes, not 32");
  }
  await rm(join(folder, "secrets/key"));
  for (const failing of [() => open().set("b", "2"), () => open().get("a"), () => open().list()]) {
    await expect(failing()).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: "The key of the secrets is gone, or the keychain that keeps it does not answer",
    });
  }
  expect(await files()).toHaveLength(1);
});

test("many first users at once agree on one key", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => open().set(name, `value of ${name}`)));
  expect(await Promise.all(names.map((name) => open().get(name)))).toEqual(names.map((name) => `value of ${name}`));
  expect((await files()).filter((file) => file.endsWith(".tmp"))).toEqual([]);
});

test("a name that cannot be one is refused", async () => {
  await expect(open().set("../a", "x")).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  expect(await open().get("../a")).toBeUndefined();
});
