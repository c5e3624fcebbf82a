import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SILENT } from "../text/logger.ts";
import { Live, type LiveOptions } from "./live.ts";

/** Something that changes, and the reader of it. */
class Source {
  value = 1;
  failure: Error | undefined;
  isListening = false;
  reads = 0;
  readonly warnings: string[] = [];
  #changed: () => void = () => {};

  options(more: Partial<LiveOptions<number>> = {}): LiveOptions<number> {
    return {
      changes: async (changed) => {
        this.#changed = changed;
        this.isListening = true;
        return () => void (this.isListening = false);
      },
      read: async () => {
        this.reads++;
        if (this.failure) throw this.failure;
        return this.value;
      },
      what: "the number",
      logger: { ...SILENT, warn: (message) => void this.warnings.push(message) },
      ...more,
    };
  }

  change(value: number): void {
    this.value = value;
    this.#changed();
  }
}

describe("a value that is read again when its source changes", () => {
  let source: Source;
  beforeEach(() => {
    vi.useFakeTimers();
    source = new Source();
  });
  afterEach(() => vi.useRealTimers());

  test("is read when it is opened, and after each change", async () => {
    const applied: number[] = [];
    using live = new Live(0, source.options({ apply: (value) => void applied.push(value) }));
    expect(live.value).toBe(0);
    await live.open();
    expect(live.value).toBe(1);
    source.change(2);
    await vi.advanceTimersByTimeAsync(0);
    expect(live.value).toBe(2);
    expect(applied, "the first value is read and not applied").toEqual([2]);
  });

  test("gets what it was before", async () => {
    using live = new Live(5, source.options({ read: async (before) => before * 2 }));
    await live.open();
    await live.refresh();
    expect(live.value).toBe(20);
  });

  test("is not opened, and no longer follows, where the first reading fails", async () => {
    source.failure = new Error("away");
    using live = new Live(0, source.options());
    await expect(live.open()).rejects.toThrow("away");
    expect(source.isListening).toBe(false);
  });

  test("can be followed without a first reading", async () => {
    using live = new Live(0, source.options());
    await live.follow();
    expect([live.value, source.reads]).toEqual([0, 0]);
    await live.refresh();
    expect(live.value).toBe(1);
  });

  test("stays as it was while it cannot be read, with one warning, and is read until it can be", async () => {
    using live = new Live(0, source.options());
    await live.open();
    source.failure = new Error("away");
    source.change(2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect([live.value, source.warnings]).toEqual([1, ["the number could not be read: away"]]);
    expect(source.reads).toBeGreaterThan(3);
    source.failure = undefined;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(live.value).toBe(2);
    source.failure = new Error("away again");
    source.change(3);
    await vi.advanceTimersByTimeAsync(0);
    expect(source.warnings.at(-1)).toBe("the number could not be read: away again");
  });

  test("is read and applied again where it could not be applied", async () => {
    let isReady = false;
    const apply = async () => {
      if (!isReady) throw new Error("not yet");
    };
    using live = new Live(0, source.options({ apply }));
    await live.open();
    source.change(2);
    await vi.advanceTimersByTimeAsync(1_000);
    const before = source.reads;
    isReady = true;
    await vi.advanceTimersByTimeAsync(1_000);
    const after = source.reads;
    expect(after).toBeGreaterThan(before);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(source.reads).toBe(after);
  });

  test("is not read after it is closed, also where it was closed before it began to follow", async () => {
    const live = new Live(0, source.options());
    await live.open();
    live[Symbol.dispose]();
    expect(source.isListening).toBe(false);
    source.change(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([live.value, source.reads]).toEqual([1, 1]);

    const closed = new Live(0, source.options());
    const following = closed.follow();
    closed[Symbol.dispose]();
    await following;
    expect(source.isListening).toBe(false);
  });
});
