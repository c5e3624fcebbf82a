import { expect, test } from "vitest";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { CredentialSource, Refusal } from "../../transport/credential-source.ts";
import { MemoryCredentials } from "../oauth/stored-credential.ts";
import { LazyCredentials, type LazyCredentialsOptions } from "./lazy-credentials.ts";

const SERVER = "https://example.com/mcp";
const REQUEST = { method: "POST", url: SERVER };
const TOKEN = { authorization: "Bearer token" };

function refusal(status: number, headers: Refusal["headers"] = {}): Refusal {
  return { request: REQUEST, status, headers, sent: {}, attempts: 1 };
}

function open(more: Partial<LazyCredentialsOptions> = {}) {
  const counts = { loads: 0, opened: 0 };
  const storage = new MemoryCredentials();
  const engine: CredentialSource = {
    name: "engine",
    findHeaders: () => TOKEN,
    getHeaders: () => Promise.resolve(TOKEN),
    renew: () => Promise.resolve(true),
  };
  const credentials = new LazyCredentials({
    server: SERVER,
    hidden: new HiddenValues([]),
    storage: {
      load: (server) => {
        counts.loads++;
        return storage.load(server);
      },
    },
    open: () => {
      counts.opened++;
      return Promise.resolve(engine);
    },
    ...more,
  });
  return { credentials, counts, storage };
}

test("without a credential the storage is read once, nothing is sent, and OAuth is not loaded", async () => {
  const { credentials, counts } = open();
  expect(credentials.findHeaders(REQUEST)).toBeUndefined();
  const got = await Promise.all([credentials.getHeaders(REQUEST), credentials.getHeaders(REQUEST)]);
  expect(got).toEqual([{}, {}]);
  expect(credentials.findHeaders(REQUEST)).toEqual({});
  expect(await credentials.renew(refusal(403))).toBe(false);
  expect(counts).toEqual({ loads: 1, opened: 0 });
});

test("a stored credential is used from the first request on", async () => {
  const { credentials, counts, storage } = open();
  await storage.save({
    server: SERVER,
    issuer: "https://as.example",
    resource: SERVER,
    client: { clientId: "c", by: "registration", authentication: "none" },
    scopes: [],
  });
  expect(await credentials.getHeaders(REQUEST)).toBe(TOKEN);
  expect(credentials.findHeaders(REQUEST)).toBe(TOKEN);
  expect(counts).toEqual({ loads: 1, opened: 1 });
});

test("a refusal that asks for a credential loads OAuth once", async () => {
  const { credentials, counts } = open();
  await credentials.getHeaders(REQUEST);
  const stepUp = refusal(403, { "www-authenticate": `Bearer error="insufficient_scope"` });
  expect(await Promise.all([credentials.renew(refusal(401)), credentials.renew(stepUp)])).toEqual([true, true]);
  expect(credentials.findHeaders(REQUEST)).toBe(TOKEN);
  expect(counts.opened).toBe(1);
});

test("secrets that were obtained are masked in errors, and what failed is tried again", async () => {
  const hidden = new HiddenValues([]);
  let opened = 0;
  const { credentials } = open({
    hidden,
    open: () => {
      opened++;
      hidden.add(["a-refresh-token"]);
      return Promise.reject(new NexusError("AUTH_REQUIRED", "a-refresh-token is not valid"));
    },
  });
  for (const attempt of [1, 2]) {
    await expect(credentials.renew(refusal(401))).rejects.toThrow("••• is not valid");
    expect(opened).toBe(attempt);
  }
});

test("credentials without a name are those of different users", () => {
  expect(open().credentials.name).not.toBe(open().credentials.name);
  expect(open({ name: "a" }).credentials.name).toBe("a");
});
