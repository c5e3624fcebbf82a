import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

test("a semaphore gives a free permit to the first in line", async () => {
  const semaphore = new Semaphore(1);
  await semaphore.acquire();
  const order: string[] = [];
  const first = semaphore.acquire().then(() => order.push("first"));
  const second = semaphore.acquire().then(() => order.push("second"));
  semaphore.release();
  await first;
  expect(order).toEqual(["first"]);
  semaphore.release();
  await second;
  semaphore.release();
  expect(semaphore.hasFree).toBe(true);
});

test("a permit of a semaphore is not lost when it is given to a holder that cancels at the same moment", async () => {
  const semaphore = new Semaphore(1);
  await semaphore.acquire();
  const abort = new AbortController();
  const cancelled = semaphore.acquire(abort.signal);
  abort.abort();
  semaphore.release();
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  expect(semaphore.hasFree).toBe(true);
});
