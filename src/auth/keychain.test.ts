import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SystemKeychain } from "./keychain.ts";
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
    expect(await secrets(platform).get("token")).toBe("s3cret");
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
  expect(await store.get("token")).toBe("s3cret");
  expect(await readdir(join(folder, "state"))).toContain("key");
});
