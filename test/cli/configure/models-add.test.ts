import { afterAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const world = await NexusWorld.open();
afterAll(() => world[Symbol.asyncDispose]());

const add = (...args: string[]) => world.run(["models", "add", "office", ...args]);

test("a key that is part of the address is not written, and a reference to one is", async () => {
  for (const url of ["http://me:hunter22@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=hunter22"]) {
    const refused = await add("--url", url);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--url holds a key") });
    expect(refused.stderr).not.toContain("hunter22");
  }
  const added = await add("--url", "http://127.0.0.1:1/v1?api_key=${secret:office}&version=2");
  expect(added).toMatchObject({ code: 0, stderr: expect.not.stringContaining("fix:") });
});

test("what would make the file unreadable is refused, and nothing is replaced", async () => {
  const url = ["--url", "http://127.0.0.1:1/v1", "--force"];
  expect(await add(...url, "--model", "")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--model is empty"),
  });
  for (const [text, where] of [
    ['{"models": 5}', "models"],
    ['{"models": {"providers": ["mine"]}}', "models.providers"],
  ] as const) {
    await world.write("home/.nexus/mcp.json", text);
    expect(await add(...url)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`"${where}" is not an object`),
    });
  }
});
