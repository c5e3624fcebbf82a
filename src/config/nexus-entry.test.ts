import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isNexusEntry, servesItself, startsGateway } from "./nexus-entry.ts";

test.for([
  { command: "nexus", args: ["serve", "--stdio"] },
  { command: "/usr/local/bin/nexus", args: ["--config", "a.json", "serve", "--stdio"] },
  { command: ["nexus", "serve", "--stdio", "--server", "github"] },
  { command: "nexus serve --stdio" },
  { command: "npx", args: ["-y", "nexus-mcp", "serve", "--stdio"] },
  { command: "npx", args: ["nexus-mcp@0.1.0", "serve", "--stdio"] },
  { command: "pnpm", args: ["dlx", "nexus-mcp@latest", "serve", "--stdio"] },
  { command: "cmd", args: ["/c", "npx", "-y", "nexus-mcp", "serve", "--stdio"] },
  { command: "cmd", args: ["/c", "nexus.cmd serve --stdio"] },
  { command: "sh", args: ["-lc", `"/opt/my tools/../nexus" serve --stdio`] },
  { command: "node", args: ["/srv/node_modules/nexus-mcp/dist/cli/main.js", "serve", "--stdio"] },
  { command: "C:\\Program Files\\node.exe", args: ["C:\\a b\\nexus-mcp\\dist\\cli\\main.js", "serve", "--stdio"] },
])("an entry that starts Nexus as a gateway is recognised: %j", (entry) => {
  expect(startsGateway(entry)).toBe(true);
});

test.for([
  { command: "nexus", args: ["demo"] },
  { command: "nexus", args: ["mcp", "call", "serve", "--arg", "stdio"] },
  { command: "node", args: ["/srv/other/dist/cli/main.js", "serve", "--stdio"] },
  { command: "serve", args: ["--stdio", "nexus"] },
  { command: "npx", args: ["-y", "nexus-mcp-tools", "serve", "--stdio"] },
  { command: "npx", args: ["-y", "@sonatype/nexus-mcp", "serve", "--stdio"] },
  { url: "http://127.0.0.1:3210/mcp" },
  {},
  "nexus serve --stdio",
])("an entry that is something else is not taken for Nexus: %j", (entry) => {
  expect(startsGateway(entry)).toBe(false);
});

test("a checkout of Nexus is recognised by its package.json, with any folder name", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-entry-"));
  try {
    await mkdir(join(folder, "dist/cli"), { recursive: true });
    const entry = { command: "node", args: [join(folder, "dist/cli/main.js"), "serve", "--stdio"] };
    expect(startsGateway(entry)).toBe(false);
    await writeFile(join(folder, "package.json"), `{ "name": "nexus-mcp" }`);
    expect(startsGateway(entry)).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a local gateway is recognised by its name and URL; other URLs are not", () => {
  expect(isNexusEntry("nexus", { url: "http://127.0.0.1:3210/mcp" })).toBe(true);
  expect(isNexusEntry("nexus", { url: "http://localhost:80/mcp/" })).toBe(true);
  expect(isNexusEntry("nexus", { url: "http://[::1]:3210/mcp" })).toBe(true);
  expect(isNexusEntry("nexus", { url: "https://nexus.example.com/mcp" })).toBe(false);
  expect(isNexusEntry("nexus", { url: "http://127.0.0.1:8081/repository" })).toBe(false);
  expect(isNexusEntry("docs", { url: "http://127.0.0.1:3210/mcp" })).toBe(false);
});

test("a gateway with its own file, or for one server, does not serve itself", () => {
  const entry = (...args: string[]) => ({ command: "nexus", args: ["serve", "--stdio", ...args] });
  expect(servesItself(entry())).toBe(true);
  expect(servesItself(entry("--verbose"))).toBe(true);
  expect(servesItself(entry("--config", "/srv/other.json"))).toBe(false);
  expect(servesItself(entry("--config=/srv/other.json"))).toBe(false);
  expect(servesItself(entry("--server", "github"))).toBe(false);
});
