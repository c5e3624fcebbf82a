import { expect, test } from "vitest";
import { adviceAbout, literalSecrets } from "./literal-secrets.ts";

test("values that look like secrets are found in variables, headers and arguments", () => {
  const secrets = literalSecrets({
    command: "npx",
    args: ["-y", "server", "--api-key=abc", "--port=80"],
    env: { GITHUB_TOKEN: "ghp_1", DB_PASSWORD: "x", MODE: "fast" },
    headers: { Authorization: "Bearer abc", "X-Api-Key": "abc", Accept: "text/html" },
  });
  expect(secrets.map(({ where, instead }) => [where, instead])).toEqual([
    ["env GITHUB_TOKEN", "GITHUB_TOKEN=${secret:GITHUB_TOKEN}"],
    ["env DB_PASSWORD", "DB_PASSWORD=${secret:DB_PASSWORD}"],
    ["header Authorization", "Authorization: Bearer ${secret:Authorization}"],
    ["header X-Api-Key", "X-Api-Key: ${secret:X-Api-Key}"],
    ["argument --api-key", "API_KEY=${secret:api-key}"],
  ]);
});

test("references, paths and empty values are not secrets", () => {
  const env = { A_TOKEN: "${A_TOKEN}", B_KEY: "~/.ssh/id", C_KEY: "C:\\keys\\id", D_SECRET: "", E_KEY: "./key.pem" };
  expect(literalSecrets({ command: "x", env, headers: { Authorization: "Bearer ${secret:x}" } })).toEqual([]);
  expect(literalSecrets("no entry")).toEqual([]);
});

test("the advice contains what to type, and never the secret", () => {
  const [secret] = literalSecrets({ command: "x", env: { MY_TOKEN: "hunter2" } });
  const advice = secret ? adviceAbout(secret) : "";
  expect(advice).toContain("nexus secrets set MY_TOKEN");
  expect(advice).toContain("'MY_TOKEN=${secret:MY_TOKEN}'");
  expect(advice).not.toContain("hunter2");
});
