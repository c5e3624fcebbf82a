const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0", a: "\u0007", b: "\b" };

/**
 * The words of one command as a shell splits them: quotes, `$'…'`, and lines that are continued with a backslash, `^` or
 * a backtick. `$NAME` becomes `{{NAME}}`, a variable of collections. What follows `|`, `;` or `>` is left out.
 */
export function shellWords(text: string): string[] {
  return new Splitter(text.replaceAll(/[\\^`][ \t]*\r?\n/g, " ").trim()).words();
}

class Splitter {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  words(): string[] {
    const words: string[] = [];
    for (;;) {
      while (/\s/.test(this.#sign())) this.#at += 1;
      if (this.#at >= this.#text.length || /[|;>]/.test(this.#sign())) return words;
      if (this.#sign() === "&" && /^&(?:&|\s|$)/.test(this.#text.slice(this.#at, this.#at + 2))) return words;
      words.push(this.#word());
    }
  }

  #word(): string {
    let word = "";
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || /[\s|;>]/.test(sign)) return word;
      if (sign === "'") word += this.#plain();
      else if (sign === '"') word += this.#quoted();
      else if (sign === "$" && this.#text[this.#at + 1] === "'") word += this.#escaped();
      else if (sign === "$") word += this.#variable();
      else if (sign === "\\" && this.#at + 1 < this.#text.length) word += this.#take(2).slice(1);
      // The shell of Windows escapes with it.
      else if (sign === "^" && /[\^&|<>"]/.test(this.#text[this.#at + 1] ?? "")) word += this.#take(2).slice(1);
      else word += this.#take(1);
    }
  }

  /** `'…'`: nothing is special. */
  #plain(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    const until = end === -1 ? this.#text.length : end;
    const inner = this.#text.slice(this.#at + 1, until);
    this.#at = until + 1;
    return inner;
  }

  #quoted(): string {
    let inner = "";
    this.#at += 1;
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || sign === '"') {
        this.#at += 1;
        return inner;
      }
      if (sign === "\\" && /["\\$`]/.test(this.#text[this.#at + 1] ?? "")) inner += this.#take(2).slice(1);
      else if (sign === "$") inner += this.#variable();
      else inner += this.#take(1);
    }
  }

  /** `$'…'`, as browsers write it for texts with quotes. */
  #escaped(): string {
    let inner = "";
    this.#at += 2;
    for (;;) {
      const sign = this.#sign();
      if (sign === "" || sign === "'") {
        this.#at += 1;
        return inner;
      }
      inner += sign === "\\" ? this.#escape() : this.#take(1);
    }
  }

  #escape(): string {
    const [whole, hex] =
      /^\\(?:u([0-9a-fA-F]{1,4})|x([0-9a-fA-F]{1,2}))/.exec(this.#text.slice(this.#at, this.#at + 6)) ?? [];
    if (whole !== undefined) {
      this.#at += whole.length;
      return String.fromCharCode(Number.parseInt(hex ?? whole.slice(2), 16));
    }
    const sign = this.#take(2).slice(1);
    return ESCAPES[sign] ?? sign;
  }

  #variable(): string {
    const [whole, braced, bare] =
      /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/.exec(this.#text.slice(this.#at, this.#at + 200)) ?? [];
    if (whole === undefined) return this.#take(1);
    this.#at += whole.length;
    return `{{${braced ?? bare}}}`;
  }

  #sign(): string {
    return this.#text[this.#at] ?? "";
  }

  #take(count: number): string {
    const taken = this.#text.slice(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}
