import { expect, test } from "vitest";
import { viewOf } from "./editor-view.ts";
import { LineEditor, type PressedKey } from "./line-editor.ts";

function typed(editor: LineEditor, text: string): void {
  for (const character of text) editor.press(character, { name: character });
}

function press(editor: LineEditor, ...names: (string | PressedKey)[]) {
  let event;
  for (const key of names) event = editor.press(undefined, typeof key === "string" ? { name: key } : key);
  return event;
}

const view = (editor: LineEditor, columns = 20, rows = 10) => viewOf(editor, { prompt: "> ", columns, rows });

test("Enter submits what was typed; a backslash before it, or Alt, begins another line", () => {
  const editor = new LineEditor();
  typed(editor, "one\\");
  expect(press(editor, "return")).toBeUndefined();
  typed(editor, "two");
  expect(press(editor, { name: "return", meta: true })).toBeUndefined();
  typed(editor, "three");
  expect(press(editor, "return")).toEqual({ kind: "submit", text: "one\ntwo\nthree" });
  expect(editor.text).toBe("");
});

test("a pasted block is inserted as it is and submits nothing", () => {
  const editor = new LineEditor();
  press(editor, "paste-start");
  typed(editor, "a b");
  editor.press("\r", { name: "return" });
  editor.press("\t", { name: "tab" });
  editor.press("\u0004", { name: "d", ctrl: true });
  expect(editor.isPasting).toBe(true);
  press(editor, "paste-end");
  expect(editor.text).toBe("a b\n\t\u0004");
  expect(view(editor).rows).toEqual(["> a b", ".     \\x04"]);
});

test("Ctrl-C drops a pasted block whose end does not come", () => {
  const editor = new LineEditor();
  press(editor, "paste-start");
  typed(editor, "a b");
  expect(editor.press("\u0003", { name: "c", ctrl: true })).toEqual({ kind: "interrupt" });
  expect(editor.isPasting).toBe(false);
  expect(editor.isEmpty).toBe(true);
});

test("keys move and remove by characters, words and lines", () => {
  const editor = new LineEditor();
  typed(editor, "one two three");
  press(editor, { name: "w", ctrl: true }, "left", "backspace");
  expect(editor.text).toBe("one tw ");
  press(editor, "home");
  typed(editor, "x");
  press(editor, { name: "k", ctrl: true });
  expect(editor.text).toBe("x");
  press(editor, { name: "u", ctrl: true });
  expect(editor.text).toBe("");
  expect(press(editor, { name: "d", ctrl: true })).toEqual({ kind: "end" });
  typed(editor, "ab");
  press(editor, "home");
  expect(press(editor, { name: "d", ctrl: true })).toBeUndefined();
  expect(editor.text).toBe("b");
});

test("an emoji of several code points, and a letter with an accent, are one character", () => {
  const editor = new LineEditor();
  editor.insert("a👩‍👩‍👧e\u0301");
  press(editor, "backspace");
  expect(editor.text).toBe("a👩‍👩‍👧");
  press(editor, "backspace");
  expect(editor.text).toBe("a");
});

test("up and down move between the lines of the text, and beyond them in the history", () => {
  const editor = new LineEditor();
  editor.insert("first\nsecond");
  press(editor, "up");
  expect(editor.textBefore).toBe("first");
  expect(press(editor, "up")).toEqual({ kind: "older" });
  press(editor, "home", "down");
  expect(editor.textBefore).toBe("first\n");
  expect(press(editor, "down")).toEqual({ kind: "newer" });
});

test("long lines are broken by cells, with the cursor at its place", () => {
  const editor = new LineEditor();
  editor.insert("日本語日本語日本語日本語");
  const { rows, cursor } = view(editor);
  expect(rows).toEqual(["> 日本語日本語日本", ". 語日本語"]);
  expect(cursor).toEqual({ row: 1, column: 10 });
  press(editor, "home");
  expect(view(editor).cursor).toEqual({ row: 0, column: 2 });
});

test("of a text with more rows than the terminal, those around the cursor are shown", () => {
  const editor = new LineEditor();
  editor.insert(Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n"));
  const { rows, cursor } = view(editor, 20, 6);
  expect(rows).toHaveLength(5);
  expect(rows.at(-1)).toBe(". line 29");
  expect(cursor.row).toBe(4);
});

test("a long text is taken at once, and characters of several code points stay whole", () => {
  const editor = new LineEditor();
  const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";
  editor.replace(`ab${family}e\u0301 x\n${family}`);
  expect(editor.characters).toEqual(["a", "b", family, "e\u0301", " ", "x", "\n", family]);
  editor.replace(`${"a".repeat(300_000)}${"\u6f22".repeat(300_000)}`);
  expect(editor.characters).toHaveLength(600_000);
});

test("a paste of 2,000 lines and the keys after it are fast, and the view says how many lines are not shown", () => {
  const editor = new LineEditor();
  const lines = Array.from({ length: 2_000 }, (_, line) => `${line} ${"word ".repeat(14)}`);
  const started = performance.now();
  press(editor, "paste-start");
  typed(editor, lines.join("\n"));
  press(editor, "paste-end");
  for (let key = 0; key < 200; key++) {
    typed(editor, "x");
    view(editor, 80, 12);
  }
  // It took minutes when each key read the whole text.
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(editor.text).toBe(lines.join("\n") + "x".repeat(200));
  press(editor, { name: "u", ctrl: true });
  const { rows, cursor } = view(editor, 100, 12);
  expect(rows).toHaveLength(11);
  expect(rows[0]).toBe("… 1,990 lines above");
  expect(rows[1]).toMatch(/^\. 1990 word/);
  expect(cursor).toEqual({ row: 10, column: 2 });
  for (let line = 0; line < 1_000; line++) press(editor, "up");
  expect(view(editor, 100, 12).rows.at(-1)).toBe("… 996 lines below");
});

test("a very long line shows the rows around the cursor", () => {
  const editor = new LineEditor();
  editor.insert("0123456789".repeat(50_000));
  const { rows, cursor } = view(editor, 23, 6);
  expect(rows).toEqual(["… more above", ...Array.from({ length: 4 }, () => ". 01234567890123456789")]);
  expect(cursor).toEqual({ row: 4, column: 22 });
});

test.each([80, 50, 25])(
  "a question wider than %d columns is broken between words, each row within the screen",
  (columns) => {
    const prompt = "Allow? [y]es once, [s]ession, [r]eview the answer before it is sent, [e]dit, [n]o: ";
    const editor = new LineEditor();
    typed(editor, "yes");
    const { rows, cursor } = viewOf(editor, { prompt, columns, rows: 30 });
    for (const row of rows) expect(row.length).toBeLessThan(columns);
    expect(rows.join(" ").replaceAll(/ +/g, " ")).toBe(`${prompt}yes`);
    expect(cursor).toEqual({ row: rows.length - 1, column: rows.at(-1)?.length });
  },
);
