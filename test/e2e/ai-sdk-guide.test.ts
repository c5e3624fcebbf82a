import { beforeAll, expect, test } from "vitest";
import { GuideProject } from "../fixtures/guide-project.ts";

const project = await GuideProject.read("ai-sdk");

beforeAll(() => project.compile(["ai"]), 120_000);

test("N14: the programs of the guide for the AI SDK compile with its tsconfig.json, and the model reads what a tool returned", async () => {
  expect(project.programs).toEqual(["main", "consent"]);
  const { stdout, stderr } = await project.run("main");
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^\[ 'mcp__demo__add' \]\nI read: .*42/);
});

test("N14: a tool that the user of the guide for the AI SDK does not agree to is refused, and the model reads why", async () => {
  const { stdout, stderr } = await project.run("consent");
  expect(stderr).toBe("");
  expect(stdout).toMatch(
    /^May mail\.send be called with \{"to":"ada@example\.com"\}\?\nI read: .*(?:denied|consent|agree)/i,
  );
});
