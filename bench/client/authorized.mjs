import { MemoryCredentials } from "../../dist/index.js";
import { openWith } from "./ours.mjs";

/** This package with a stored token, which OAuth would renew. */
export async function open(target) {
  const storage = new MemoryCredentials();
  await storage.save({
    server: target.target,
    issuer: "https://as.example",
    resource: target.target,
    client: { clientId: "bench", by: "configuration", authentication: "none" },
    tokens: {
      accessToken: "for-this-benchmark",
      type: "Bearer",
      expiresAt: Date.now() + 86_400_000,
      refreshToken: "never-used",
      obtainedAt: Date.now(),
    },
    scopes: [],
  });
  return openWith(target, {}, { auth: { storage } });
}
