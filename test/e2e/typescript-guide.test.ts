import { beforeAll, expect, test } from "vitest";
import { GuideProject } from "../fixtures/guide-project.ts";

const project = await GuideProject.read("typescript");

beforeAll(() => project.compile(), 120_000);

test.concurrent.each(project.programs)("N14: %s of the guide for TypeScript compiles and runs", async (program) => {
  const { stdout, stderr } = await project.run(program);
  expect(stdout).not.toBe("");
  expect(stderr).toBe("");
});
