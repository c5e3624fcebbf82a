import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

interface Item {
  group: string;
  member: string;
  name: string;
}

function queueOf(...names: string[]): { queue: FairQueue<Item>; items: Item[] } {
  const queue = new FairQueue<Item>();
  const items = names.map((name) => ({ group: name.charAt(0), member: name.charAt(1), name }));
  for (const item of items) queue.add(item);
  return { queue, items };
}

const names = (queue: FairQueue<Item>) => queue.inTurn().map(({ name }) => name);

test("a fair queue serves groups in turn, their members in turn, and one member in order of arrival", () => {
  const { queue } = queueOf("ax1", "ax2", "ax3", "ay1", "bx1");
  expect(names(queue)).toEqual(["ax1", "bx1", "ay1", "ax2", "ax3"]);
});

test("a fair queue puts a group and a member that were served behind the others", () => {
  const { queue, items } = queueOf("ax1", "ax2", "ay1", "bx1");
  const [first] = items;
  if (first) queue.take(first);
  expect(names(queue)).toEqual(["bx1", "ay1", "ax2"]);
  expect(queue.size).toBe(3);
});

test("a fair queue forgets an item that leaves, and with the last one its group", () => {
  const { queue, items } = queueOf("ax1", "bx1");
  const [first] = items;
  expect(first && queue.delete(first)).toBe(true);
  expect(first && queue.delete(first)).toBe(false);
  expect(names(queue)).toEqual(["bx1"]);
});
