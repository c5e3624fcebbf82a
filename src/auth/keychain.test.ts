import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SystemKeychain, type KeyHolder } from "./keychain.ts";
import { FileSecretStore } from "./secrets.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-keychain-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function tool(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

const variables = () => ({ PATH: `${folder}:/usr/bin:/bin` });
const secrets = (platform: NodeJS.Platform) =>
  new FileSecretStore({
    folder: join(folder, "state"),
    platform: "linux",
    keychain: new SystemKeychain({ platform, variables: variables() }),
  });

test.each([
  [
    "linux",
    "secret-tool",
    `echo "$@" >> "$0.log"; case $1 in store) cat > "$0.kept";; lookup) cat "$0.kept" 2>/dev/null;; esac`,
  ],
  [
    "darwin",
    "security",
    `echo "$@" >> "$0.log"; case $1 in -i) sed 's/.* -w //' > "$0.kept";; *) cat "$0.kept" 2>/dev/null;; esac`,
  ],
] as const)(
  "on %s the key is kept by %s, never in its arguments, and no key file is made",
  async (platform, name, script) => {
    await tool(name, script);
    await secrets(platform).set("token", "s3cret");
    expect(await secrets(platform).get("token")).toMatchObject({ value: "s3cret" });
    expect(await readdir(join(folder, "state"))).not.toContain("key");
    const key = (await readFile(join(folder, `${name}.kept`), "utf8")).trim();
    expect(await readFile(join(folder, `${name}.log`), "utf8")).not.toContain(key);
  },
);

test.each([
  ["is missing", undefined],
  ["fails", "exit 1"],
  ["forgets", "exit 0"],
])("where the keychain %s, a file that only its owner can read keeps the key", async (_case, script) => {
  if (script) await tool("secret-tool", script);
  const store = new FileSecretStore({
    folder: join(folder, "state"),
    platform: "linux",
    keychain: new SystemKeychain({ platform: "linux", variables: { PATH: folder } }),
  });
  await store.set("token", "s3cret");
  expect(await store.get("token")).toMatchObject({ value: "s3cret" });
  expect(await readdir(join(folder, "state"))).toContain("key");
});

/** A keychain that can be away, and takes its time, in which others come in between. */
class ShakyKeychain implements KeyHolder {
  isAway = false;
  lookups = 0;
  readonly kept: Buffer[] = [];

  async find(): Promise<Buffer | undefined> {
    this.lookups++;
    await setImmediate();
    return this.isAway ? undefined : this.kept.at(-1);
  }

  async keep(key: Buffer): Promise<boolean> {
    await setImmediate();
    if (!this.isAway) this.kept.push(key);
    return !this.isAway;
  }
}

test("while the keychain is unavailable no new key is created, and afterwards all secrets are readable", async () => {
  const keychain = new ShakyKeychain();
  const store = new FileSecretStore({ folder: join(folder, "state"), platform: "linux", keychain, rememberMs: 0 });
  await store.set("a", "1");
  keychain.isAway = true;
  for (const failing of [() => store.set("b", "2"), () => store.get("a"), () => store.list()]) {
    await expect(failing()).rejects.toThrow("the keychain does not respond");
  }
  keychain.isAway = false;
  await store.set("b", "2");
  expect([await store.get("a"), await store.get("b")]).toMatchObject([{ value: "1" }, { value: "2" }]);
  expect(keychain.kept).toHaveLength(1);
});

test("a keychain that fails once does not lose the key", async () => {
  const keychain = new ShakyKeychain();
  const store = new FileSecretStore({ folder: join(folder, "state"), platform: "linux", keychain, rememberMs: 0 });
  await store.set("a", "1");
  const find = keychain.find.bind(keychain);
  keychain.find = () => {
    keychain.find = find;
    return Promise.resolve(undefined);
  };
  await store.set("b", "2");
  expect([await store.get("a"), await store.get("b")]).toMatchObject([{ value: "1" }, { value: "2" }]);
});

test("concurrent first secrets use one key, which a list looks up once", async () => {
  const keychain = new ShakyKeychain();
  const open = () => new FileSecretStore({ folder: join(folder, "state"), platform: "linux", keychain });
  const names = ["a", "b", "c", "d", "e"];
  await Promise.all(names.map((name) => open().set(name, name)));
  expect(keychain.kept).toHaveLength(1);
  const stored = await Promise.all(names.map((name) => open().get(name)));
  expect(stored).toMatchObject(names.map((value) => ({ value })));
  keychain.lookups = 0;
  expect(await open().list()).toEqual({ secrets: names.map((name) => ({ name })), unreadable: 0 });
  expect(keychain.lookups).toBe(1);
});

test("the keychain is asked once for all secrets of a configuration, even if it does not answer", async () => {
  const keychain = new ShakyKeychain();
  const open = () => new FileSecretStore({ folder: join(folder, "state"), platform: "linux", keychain });
  for (const name of ["a", "b", "c"]) await open().set(name, name);
  for (const isAway of [false, true]) {
    keychain.isAway = isAway;
    keychain.lookups = 0;
    const store = open();
    const got = [
      await store.get("a").catch(() => "gone"),
      ...(await Promise.allSettled(["b", "c"].map((name) => store.get(name)))),
    ];
    expect(got[0]).toEqual(isAway ? "gone" : { value: "a" });
    expect(keychain.lookups).toBe(1);
  }
});
