import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { SILENT } from "../text/logger.ts";
import type { ApiSurroundings } from "../host/servers/server-connector.ts";
import type { Receiver } from "../transport/transport.ts";
import { FileTrustStore } from "../config/trust/trust-store.ts";
import { accept } from "./acceptance.ts";
import { loadApi } from "./load-api.ts";
import { openApi } from "./open-api.ts";
import { approve } from "./review/lock.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nexus-open-api-"))));
afterAll(() => rm(folder, { recursive: true }));

/** An approved copy of the museum's file. */
async function approved(edit: (text: string) => string): Promise<string> {
  await copyFile("api/museum/manual.md", join(folder, "manual.md"));
  const path = join(folder, "museum.nexus.yaml");
  await writeFile(path, edit(await readFile("api/museum/museum.nexus.yaml", "utf8")));
  const { api } = await loadApi(path);
  if (!api) throw new Error("no file");
  await approve(path, api, { by: "Ada", at: new Date(0) });
  await accept(path, api, new FileTrustStore({ folder, platform: process.platform }));
  return path;
}

function surroundings(): ApiSurroundings {
  const { platform } = process;
  return {
    surroundings: { platform, extraCertificates: [] },
    stateFolder: folder,
    logger: SILENT,
  } as unknown as ApiSurroundings;
}

const listening = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;

test("a fake is closed if its API cannot be opened", async () => {
  const path = await approved((text) => text.replace(/^(secrets:\n {2}\w+: \{)/m, "$1 sign: hmac,"));
  const before = listening();
  const transport = await openApi({ kind: "api", file: path, upstream: "fake" }, surroundings());
  await expect(transport.connect({} as Receiver)).rejects.toThrow("no such signer");
  await expect.poll(listening).toBe(before);
});

test("a client without its own timeout waits for the API's longest call", async () => {
  const path = await approved((text) => text.replace(/^( {2}timeout:) \S+/m, "$1 90s"));
  const transport = await openApi({ kind: "api", file: path, upstream: "fake" }, surroundings());
  expect(transport.longestCallMs).toBeGreaterThan(90_000);
});

test("a version that is approved later and allows more time gets it on connections that are open", async () => {
  const path = await approved((text) => text.replace(/^( {2}timeout:) \S+/m, "$1 90s"));
  const transport = await openApi({ kind: "api", file: path, upstream: "fake" }, surroundings());
  await using client = await Client.open(transport);
  await client.listTools();
  const before = transport.longestCallMs ?? 0;
  await approved((text) => text.replace(/^( {2}timeout:) \S+/m, "$1 300s"));
  await expect.poll(() => transport.longestCallMs, { timeout: 30_000 }).toBe(before + 210_000);
});

describe("settings", () => {
  const withSettings = (text: string) =>
    `${text}\nsettings:\n  channel: { description: Your channel., example: demo, maxLength: 5 }\n  area: { default: west }\n`;
  const openedWith = async (settings: Record<string, string>, upstream = "http://127.0.0.1:1/") => {
    const path = await approved(withSettings);
    const transport = await openApi({ kind: "api", file: path, upstream, settings }, surroundings());
    const connection = await transport.connect({} as Receiver);
    await connection.close();
  };

  test.each<[Record<string, string>, string]>([
    [{}, '"channel" is missing (Your channel)'],
    [{ chanel: "acme" }, '"chanel" is not known: did you mean "channel"?'],
    [{ channel: "acme tours" }, '"channel" must have at most 5 characters'],
  ])("%j are refused with words that say what to write", async (settings, words) => {
    await expect(openedWith(settings)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(words),
      hint: 'Write in its entry: "settings": { "channel": "…", "area": "…" }',
    });
  });

  test("of a user are not part of the approval, and a fake has its own examples", async () => {
    await openedWith({ channel: "acme" });
    await openedWith({ channel: "other", area: "east" });
    await openedWith({}, "fake");
  });
});

test.each([
  "http://localhost.evil.example/",
  "http://127.0.0.1.evil.example/",
  "http://127.0.0.1@evil.example/",
  "http://0.0.0.0/",
  "http://[::ffff:10.0.0.1]/",
  "http://169.254.169.254/",
  "https://museum.example/",
  "ftp://127.0.0.1/",
  "//127.0.0.1/",
  "fake ",
])("%s stands in for no upstream: secrets would go there", async (upstream) => {
  const path = await approved((text) => `${text}\n`);
  const transport = await openApi({ kind: "api", file: path, upstream }, surroundings());
  await expect(transport.connect({} as Receiver)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
