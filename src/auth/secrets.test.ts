import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { secretStoreCases } from "../../test/fixtures/secret-store-cases.ts";
import { storeFormerly } from "../../test/fixtures/former-secrets.ts";
import { FileSecretStore } from "./secrets.ts";

let folder: string;
const open = (at = folder) => new FileSecretStore({ folder: join(at, "secrets"), platform: process.platform });
const files = async () => (await readdir(join(folder, "secrets"))).map((name) => join(folder, "secrets", name));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-secrets-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("secrets in files", () => secretStoreCases(() => open()));

test("reading an empty store creates no files", async () => {
  await open().list();
  await open().get("a");
  await open().allow("a", "https://a.example");
  await open().bind("a", "https://a.example");
  await open().adopt("a", "b");
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

test("changed or swapped files are noticed, and the error contains no secret", async () => {
  await open().set("a", "value-a");
  await open().set("b", "value-b");
  const [one, two] = (await files()).filter((file) => file.endsWith(".secret"));
  await rename(one!, two!);
  const results = await Promise.allSettled([open().get("a"), open().get("b")]);
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
  expect(reasons).toEqual(["NexusError: A stored secret cannot be decrypted"]);
});

test("an unreadable file is missing in the list, and the others are in it", async () => {
  await open().set("a", "1");
  const damaged = (await files()).find((file) => file.endsWith(".secret"));
  await open().set("b", "2");
  await writeFile(damaged!, "x");
  expect(await open().list()).toEqual({ secrets: [{ name: "b" }], unreadable: 1 });
  await expect(open().allow("a", "https://a.example")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await open().set("a", "again");
  expect(await open().get("a")).toEqual({ value: "again" });
});

describe("secrets of a version that recorded no origins", () => {
  test("are found, listed once, and stored as they are today by the first change", async () => {
    await storeFormerly(join(folder, "secrets"), { "shop.pin": "4711", github: "gh" });
    expect(await open().get("shop.pin")).toEqual({ value: "4711" });
    expect(await open().list()).toEqual({ secrets: [{ name: "github" }, { name: "shop.pin" }], unreadable: 0 });
    await open().bind("shop.pin", "https://shop.example");
    await open().set("github", "new");
    expect(await open().list()).toEqual({
      secrets: [{ name: "github" }, { name: "shop.pin", origins: ["https://shop.example"] }],
      unreadable: 0,
    });
    expect((await files()).filter((file) => file.endsWith(".secret"))).toHaveLength(2);
    expect(await open().get("shop.pin")).toEqual({ value: "4711", origins: ["https://shop.example"] });
    expect(await open().remove("shop.pin")).toBe(true);
    expect(await open().get("shop.pin")).toBeUndefined();
  });

  test("are copied by every server that used them, and only by those", async () => {
    await storeFormerly(join(folder, "secrets"), { "shop.pin": "4711" });
    expect(await open().adopt("corner.pin", "shop.pin")).toEqual({ value: "4711" });
    await open().bind("corner.pin", "https://corner.example");
    expect(await open().adopt("corner.pin", "shop.pin")).toMatchObject({ origins: ["https://corner.example"] });
    expect(await open().adopt("market.pin", "shop.pin")).toEqual({ value: "4711" });
    expect(await open().get("shop.pin")).toEqual({ value: "4711" });
    await open().set("shop.pin", "new");
    expect(await open().adopt("kiosk.pin", "shop.pin")).toBeUndefined();
  });
});

test("a damaged or lost key is reported, and not replaced by a new one", async () => {
  await open().set("a", "1");
  await writeFile(join(folder, "secrets/key"), "short");
  for (const failing of [() => open().set("b", "2"), () => open().get("a"), () => open().list()]) {
    await expect(failing()).rejects.toThrow("The encryption key of the secrets has 5 bytes instead of 32");
  }
  await rm(join(folder, "secrets/key"));
  for (const failing of [() => open().set("b", "2"), () => open().get("a"), () => open().list()]) {
    await expect(failing()).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
      message: "The encryption key of the secrets is missing, or the keychain does not respond",
    });
  }
  expect(await files()).toHaveLength(1);
});

test("many concurrent first users leave no temporary files", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
  await Promise.all(names.map((name) => open().set(name, `value of ${name}`)));
  expect((await files()).filter((file) => file.endsWith(".tmp"))).toEqual([]);
});
