import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Output } from "../../output/output.ts";
import { InputHistory } from "./input-history.ts";
import { TerminalInput, type Entered } from "./terminal-input.ts";

/** No test waits for it. */
const LONG_MS = 3_600_000;
const ENTER = "\r";
const CTRL_C = "\u0003";

let shown = "";

beforeEach(() => {
  shown = "";
  Object.assign(process.stderr, { columns: 80, rows: 24 });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(process.stderr, { columns: undefined, rows: undefined });
});

function openInput({ pauseMs = LONG_MS, onInterrupt = () => {} } = {}): TerminalInput {
  const input = new TerminalInput({
    out: new Output({ json: false, colours: false }),
    history: new InputHistory(undefined, process.platform),
    complete: () => ({ words: [], length: 0 }),
    onInterrupt,
    pauseMs,
  });
  input.start();
  return input;
}

/** Keys that arrive together, as those do that were typed while the program was busy. */
function type(keys: string): void {
  process.stdin.emit("data", Buffer.from(keys));
}

function acceptsMessages(entered: Entered): boolean {
  return entered.kind === "line" && entered.text !== "";
}

describe("keys that arrive together at the prompt", () => {
  test("an empty line before a message does not cost its Enter", async () => {
    using input = openInput();
    const read = input.read("> ", acceptsMessages);
    type(`${ENTER}${ENTER}hello${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "hello" });
    expect(shown.split("\n")).toHaveLength(4);
  });

  test("Ctrl-C before a message clears the line, and the message is sent", async () => {
    using input = openInput();
    const read = input.read("> ", acceptsMessages);
    type(`wrong${CTRL_C}right${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "right" });
  });

  test("a second message waits for another Enter, because the first one is being answered", async () => {
    using input = openInput();
    const first = input.read("> ", acceptsMessages);
    type(`one${ENTER}two${ENTER}`);
    expect(await first).toEqual({ kind: "line", text: "one" });
    const second = input.read("> ", acceptsMessages);
    type(`!${ENTER}`);
    expect(await second).toEqual({ kind: "line", text: "two!" });
  });
});

describe("R8: a question that comes while a person is typing", () => {
  test("is not answered by the rest of the word, which waits at the prompt", async () => {
    using input = openInput();
    type("ye");
    const asked = input.ask("Allow? ", new AbortController().signal);
    await setImmediate();
    await setImmediate();
    type(`s${ENTER}`);
    await vi.waitFor(() => expect(shown).toContain("Allow?"));
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
    const read = input.read("> ", acceptsMessages);
    type(ENTER);
    expect(await read).toEqual({ kind: "line", text: "yes" });
  });

  test("begins when the person pauses", async () => {
    using input = openInput({ pauseMs: 1 });
    type("ye");
    const asked = input.ask("Allow? ", new AbortController().signal);
    await vi.waitFor(() => expect(shown).toContain("Allow?"));
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });

  test("is not asked when its call is cancelled", async () => {
    using input = openInput();
    type("ye");
    const call = new AbortController();
    const asked = input.ask("Allow? ", call.signal);
    call.abort();
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
    expect(shown).not.toContain("Allow?");
  });

  test("Ctrl-C drops what was typed and interrupts, so that the question can be asked", async () => {
    const onInterrupt = vi.fn();
    using input = openInput({ onInterrupt });
    type("ye");
    const asked = input.ask("Allow? ", new AbortController().signal);
    await setImmediate();
    type(CTRL_C);
    expect(onInterrupt).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(shown).toContain("Allow?"));
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });
});
