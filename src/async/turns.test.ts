import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("functions that are run in turn do not overlap, and one that fails does not stop the next", async () => {
  const turns = new Turns();
  const events: string[] = [];
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`${name} ends`);
    if (name === "b") throw new Error("b failed");
    return name;
  };
  const results = [turns.run(work("a")), turns.run(work("b")), turns.run(work("c"))];
  expect(await Promise.allSettled(results)).toMatchObject([{ value: "a" }, { status: "rejected" }, { value: "c" }]);
  expect(events).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

test("the end of all turns is waited for, whether they fail or not", async () => {
  const turns = new Turns();
  let isOver = false;
  const failing = turns.run(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    throw new Error("failed");
  });
  await turns.ended();
  expect(isOver).toBe(true);
  await expect(failing).rejects.toThrow("failed");
});
