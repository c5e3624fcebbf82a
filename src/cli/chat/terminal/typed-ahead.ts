import { LineEditor, type PressedKey } from "./line-editor.ts";

/** What is typed while nothing is read. It waits for the next prompt, where it can be edited, and answers no question. */
export class TypedAhead {
  #editor = new LineEditor();
  /** Ctrl-D in an empty line. */
  #isEnd = false;

  get isPasting(): boolean {
    return this.#editor.isPasting;
  }

  /** Returns `interrupt` for Ctrl-C, which keeps what was typed. */
  press(text: string | undefined, key: PressedKey): "interrupt" | undefined {
    const isEnter = key.name === "return" || key.name === "enter";
    if (isEnter && !this.isPasting) {
      this.#editor.insert("\n");
      return undefined;
    }
    const event = this.#editor.press(text, key);
    if (event?.kind === "end") this.#isEnd = true;
    if (event?.kind !== "interrupt") return undefined;
    this.#isEnd = false;
    return "interrupt";
  }

  /** What was typed, without empty lines around it; begins again. */
  take(): { editor: LineEditor; isEnd: boolean } {
    const editor = this.#editor;
    const isEnd = this.#isEnd && editor.isEmpty;
    this.#editor = new LineEditor();
    this.#isEnd = false;
    if (!editor.isEmpty) editor.replace(editor.text.replaceAll(/^\n+|\n+$/g, ""));
    return { editor, isEnd };
  }
}
