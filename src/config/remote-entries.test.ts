import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineServers } from "./load.ts";

const POSTED = "A server definition posted to a gateway ran a command";
const SSRF = "SSRF through URLs, redirects, OAuth discovery, $ref, imported documents";
const SECRETS = "Child processes inherit every secret of the parent";

async function defined(entry: object, variables: Record<string, string> = {}) {
  const options = { cwd: "/", home: "/", platform: process.platform, variables, isRemote: true };
  const [server] = await defineServers({ posted: entry }, options);
  return server;
}

const url = "https://example.com/mcp";

test.each([
  { command: "sh", args: ["-c", "id"] },
  { command: ["sh", "-c", "id"] },
  { executable: "sh" },
  { command: { path: "sh", args: ["-c", "id"] } },
  { transport: { command: "sh" } },
  { type: "stdio", command: "sh" },
  { url, command: "sh" },
  { url, env: { A: "b" } },
  { url, envFile: "/etc/environment" },
  { url, ca: "/etc/hostname" },
  { url, roots: ["/"] },
  { url, oauth: { privateKeyFile: "/etc/hostname" } },
  { url, oauth: { identityProvider: { id_token_file: "/etc/hostname" } } },
  { api: "/srv/shop.nexus.yaml" },
  { api: "/srv/shop.nexus.yaml", upstream: "http://127.0.0.1:1/" },
])(`${POSTED}: the entry %j has no effect when it comes over the network`, async (entry) => {
  const server = await defined(entry);
  expect(server?.entry).toBeUndefined();
  expect(server?.problem).toMatchObject({ code: "DENIED" });
});

test.each([undefined, false, true, { allow: ["127.0.0.1", "169.254.169.254"] }])(
  `${SSRF}: an entry from the network reaches public addresses only, whatever it says (public_only: %j)`,
  async (public_only) => {
    const server = await defined({ url: "http://169.254.169.254/", public_only });
    expect(server?.entry?.network).toEqual({
      publicOnly: { allow: [], advice: expect.stringContaining("operator of the gateway") as string },
    });
  },
);

test(`${SECRETS}: an entry from the network reads no variable and no file of the machine`, async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-remote-"));
  const file = join(folder, "token");
  await writeFile(file, "hidden value");
  try {
    for (const written of ["${TOKEN}", "${env:TOKEN}", `\${file:${file}}`, "${userHome}", "${input:x}"]) {
      const server = await defined({ url, headers: { authorization: `Bearer ${written}` } }, { TOKEN: "hidden value" });
      expect(server?.entry, written).toBeUndefined();
      expect(JSON.stringify(server), written).not.toContain("hidden value");
      expect(server?.problem, written).toMatchObject({ code: "CONFIG_INVALID" });
    }
    const server = await defined(
      { url, headers: { authorization: "Bearer ${TOKEN:-own}" } },
      { TOKEN: "hidden value" },
    );
    expect(server?.entry?.reach).toMatchObject({ headers: { authorization: "Bearer own" } });
  } finally {
    await rm(folder, { recursive: true });
  }
});
