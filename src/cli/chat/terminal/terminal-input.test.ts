import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Output } from "../../output/output.ts";
import { InputHistory } from "./input-history.ts";
import { TerminalInput, type Entered } from "./terminal-input.ts";

const ENTER = "\r";
const CTRL_C = "\u0003";
const PASTE = "\u001b[200~";
const PASTED = "\u001b[201~";
const PAUSE_MS = 700;

let shown = "";

beforeEach(() => {
  shown = "";
  Object.assign(process.stderr, { columns: 80, rows: 24 });
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.assign(process.stderr, { columns: undefined, rows: undefined });
});

function openInput(onInterrupt = () => {}): TerminalInput {
  const input = new TerminalInput({
    out: new Output({ json: false, colours: false }),
    history: new InputHistory(undefined, process.platform),
    complete: () => ({ words: [], length: 0 }),
    onInterrupt,
  });
  input.start();
  return input;
}

/** Keys that arrive together, as those do that were typed while the program was busy. */
function type(keys: string): void {
  process.stdin.emit("data", Buffer.from(keys));
}

/** Lets everything happen that does not wait for a time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

/** The person types nothing for a while. */
async function pause(ms = PAUSE_MS): Promise<void> {
  await settle();
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

function acceptsMessages(entered: Entered): boolean {
  return entered.kind === "line" && entered.text !== "";
}

/** A question as a server causes it: shown, and then asked. */
function question(input: TerminalInput, call = new AbortController()): Promise<string> {
  return input.aside(() => {
    process.stderr.write("evil.write wants to run.\n");
    return input.ask("Allow? ", call.signal);
  }, call.signal);
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

  test("Ctrl-C ends a paste whose end never comes", async () => {
    using input = openInput();
    const read = input.read("> ", acceptsMessages);
    type(`${PASTE}never ends${ENTER}`);
    type(CTRL_C);
    type(`hello${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "hello" });
  });
});

describe("R8: what is typed or pasted while a question comes", () => {
  test.each([
    ["the rest of a word", "ye", `s${ENTER}`, "yes"],
    ["a line after another one", `first${ENTER}`, `y${ENTER}`, "first\ny"],
    ["a line of a paste", `${PASTE}first${ENTER}`, `y${ENTER}last${PASTED}`, "first\ny\nlast"],
  ])("%s does not answer it, and waits at the prompt", async (_what, before, after, waiting) => {
    using input = openInput();
    type(before);
    const asked = question(input);
    await settle();
    type(after);
    await settle();
    expect(shown).not.toContain("Allow?");
    await pause();
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
    const read = input.read("> ", acceptsMessages);
    type(ENTER);
    expect(await read).toEqual({ kind: "line", text: waiting });
  });

  test("a paste that stops for long does not answer it", async () => {
    using input = openInput();
    type(`${PASTE}first${ENTER}`);
    const asked = question(input);
    await pause(100 * PAUSE_MS);
    type(`y${ENTER}`);
    expect(shown).not.toContain("Allow?");
    type(PASTED);
    await pause();
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });

  test("keys that are in the buffer when it comes do not answer it", async () => {
    using input = openInput();
    const asked = question(input);
    type(`y${ENTER}`);
    await pause();
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });

  test("an answer that is begun when its question is withdrawn does not answer the next one", async () => {
    using input = openInput();
    const first = new AbortController();
    const withdrawn = question(input, first);
    await settle();
    type("ye");
    first.abort();
    await expect(withdrawn).rejects.toMatchObject({ code: "CANCELLED" });
    expect(shown).toContain("ye");
    expect(shown).toContain("(withdrawn)");
    shown = "";
    const next = question(input);
    await settle();
    type(`s${ENTER}`);
    expect(shown).not.toContain("Allow?");
    await pause();
    type(`n${ENTER}`);
    expect(await next).toBe("n");
  });

  test("an answer makes way for the next question at once", async () => {
    using input = openInput();
    const first = question(input);
    await settle();
    type(`n${ENTER}`);
    expect(await first).toBe("n");
    const next = question(input);
    await settle();
    type(`y${ENTER}`);
    expect(await next).toBe("y");
  });

  test("a cancelled call asks nothing", async () => {
    using input = openInput();
    type("ye");
    const call = new AbortController();
    const asked = question(input, call);
    call.abort();
    await expect(asked).rejects.toMatchObject({ code: "CANCELLED" });
    expect(shown).not.toContain("wants to run");
  });

  test("Ctrl-C interrupts and keeps what was typed for the prompt", async () => {
    const onInterrupt = vi.fn();
    using input = openInput(onInterrupt);
    type(`half a line${CTRL_C}`);
    expect(onInterrupt).toHaveBeenCalledOnce();
    const read = input.read("> ", acceptsMessages);
    type(ENTER);
    expect(await read).toEqual({ kind: "line", text: "half a line" });
  });
});

describe("R8: a server that asks while a person is at the prompt", () => {
  test("is heard when the line is sent, and gets nothing of it", async () => {
    using input = openInput();
    const read = input.read("> ", acceptsMessages);
    type("my secret mess");
    const asked = question(input);
    await pause(100 * PAUSE_MS);
    expect(shown).toContain("A server asks something.");
    expect(shown).not.toContain("wants to run");
    type(`age${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "my secret message" });
    await settle();
    expect(shown).toContain("Allow?");
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });

  test("is answered at an empty prompt, which then comes back", async () => {
    using input = openInput();
    const read = input.read("> ", acceptsMessages);
    const asked = question(input);
    await pause();
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
    await settle();
    type(`hello${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "hello" });
  });

  test("keeps its question when the prompt comes meanwhile, which waits for the answer", async () => {
    using input = openInput();
    const asked = question(input);
    await settle();
    expect(shown).toContain("Allow?");
    const read = input.read("> ", acceptsMessages);
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
    await settle();
    type(`hello${ENTER}`);
    expect(await read).toEqual({ kind: "line", text: "hello" });
  });

  test("Ctrl-D that was typed ahead ends the chat at the prompt", async () => {
    using input = openInput();
    type("\u0004");
    expect(await input.read("> ", acceptsMessages)).toEqual({ kind: "end" });
  });

  test("gets no key that was typed before its form, and a warning meanwhile is shown after it", async () => {
    using input = openInput();
    type("ye");
    let isShown = false;
    const form = input.aside(
      () =>
        input.lend(async () => {
          isShown = true;
          input.above(() => process.stderr.write("a warning\n"));
          expect(shown).not.toContain("a warning");
        }),
      new AbortController().signal,
    );
    await settle();
    expect(isShown).toBe(false);
    await pause();
    await form;
    expect(shown).toContain("a warning");
    // What follows the form in the same pasted text does not answer the next question.
    const asked = question(input);
    await settle();
    type(`y${ENTER}`);
    await pause();
    type(`n${ENTER}`);
    expect(await asked).toBe("n");
  });
});
