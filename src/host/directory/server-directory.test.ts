import { expect, test } from "vitest";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { PolicySettings } from "./policy.ts";
import { ServerDirectory, type ListedItem } from "./server-directory.ts";

const TOOLS: readonly ListedItem[] = [
  { name: "search", annotations: { readOnlyHint: true } },
  { name: "push", annotations: { readOnlyHint: false } },
];

function server(id: string, more: Partial<ServerDefinition> = {}): ServerDefinition {
  const common = { enabled: true, autoStart: true, failIfNoTools: false, trusted: true, hides: [] };
  return { id, tools: {}, isolation: "owner", ...common, ...more };
}

function open(settings: PolicySettings = {}): ServerDirectory {
  const directory = new ServerDirectory(settings);
  const files = { id: "my-files", name: "My Files", tools: { deny: ["push"] } };
  directory.replace([server("github", { prefix: "gh" }), server(files.id, files)]);
  return directory;
}

const listed = () => TOOLS;

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof NexusError) return [error.message, error.hint].join(" | ");
  }
  return "nothing was thrown";
}

test.each(["github.search", "mcp:github.search", "mcp__github__search", "mcp__gh__search"])(
  "the directory of servers resolves %s to the server, the tool and the decision",
  (name) => {
    expect(open().resolve(name, { kind: "tool", listed })).toEqual({
      definition: expect.objectContaining({ id: "github" }),
      item: TOOLS[0],
      target: { kind: "tool", server: "github", name: "search", annotations: { readOnlyHint: true } },
      decision: { kind: "allowed" },
    });
  },
);

test("the directory of servers takes the name of a server in its file, and applies the rules of its entry", () => {
  const { definition, decision } = open().resolve("My Files.push", { kind: "tool", listed });
  expect(definition.id).toBe("my-files");
  expect(decision).toEqual({ kind: "denied", reason: "the server's entry denies it" });
});

test("the directory of servers does not resolve names of a server that the agent may not see", () => {
  const directory = open({ visibleTo: { github: ["ada"] } });
  const find = (agent: string) => directory.resolve("github.search", { kind: "tool", agent, listed }).definition.id;
  expect(find("ada")).toBe("github");
  expect(messageOf(() => find("bob"))).toContain(`There is no tool "github.search"`);
});

test("the directory of servers suggests the nearest name for an unknown one", () => {
  const directory = open();
  const known = "Configured: github, my-files.";
  expect(messageOf(() => directory.get("githup"))).toBe(
    `There is no server "githup" | Did you mean "github"? ${known}`,
  );
  expect(messageOf(() => directory.get("github.search"))).toBe(
    `There is no server "github.search" | Did you mean "github"? ${known}`,
  );
  expect(messageOf(() => directory.resolve("github.serach", { kind: "tool", listed }))).toBe(
    `There is no tool "github.serach" | Did you mean "github.search"?`,
  );
});

test("a prefix belongs to the entry that claims it, also where another server has it as its id", () => {
  const directory = new ServerDirectory();
  directory.replace([server("docs"), server("kit", { prefix: "docs" })]);
  expect(["docs", "kit", "other"].map((prefix) => directory.findIdByPrefix(prefix))).toEqual(["kit", "kit", undefined]);
});
