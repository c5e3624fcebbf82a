import { expect, test } from "vitest";
import { maskedMembers, reachText } from "./reach-text.ts";

test.each([
  [{ command: "npx", args: ["-y", "@example/docs"] }, "npx -y @example/docs"],
  [{ command: ["node", "my server.js"] }, "node 'my server.js'"],
  [{ command: "x", args: ["--api-key", "abc", "--token=abc"] }, "x --api-key ••• --token=•••"],
  [{ command: "x", args: ["--token", "${TOKEN}"] }, "x --token ${TOKEN}"],
  [{ command: "x", args: ["--mode=${MODE:-fast}"] }, "x --mode=${MODE:-•••}"],
  [{ command: "docker", args: ["run", "-e", "GITHUB_TOKEN=abc"] }, "docker run -e GITHUB_TOKEN=•••"],
  [{ command: "npx", args: ["mcp-remote", "https://a.example/?key=abc"] }, "npx mcp-remote https://a.example/?key=•••"],
  [{ command: "x", args: ["--header", "Authorization: Bearer abc"] }, "x --header 'Authorization: •••'"],
  [{ url: "https://user:abc@a.example/mcp?key=abc&x=${KEY}" }, "https://•••@a.example/mcp?key=•••&x=${KEY}"],
  [{}, undefined],
])("%j is shown as %s", (entry, text) => {
  expect(reachText(entry)).toBe(text);
});

test("env and headers are shown with names only, and variables by name", () => {
  expect(maskedMembers({ A: "abc", B: "Bearer ${TOKEN}" }, "=")).toEqual(["A=•••", "B=${TOKEN}"]);
});
