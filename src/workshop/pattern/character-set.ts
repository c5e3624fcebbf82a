const ASCII = 128;

/** The characters that one atom of a pattern matches: a letter, an escape, a class, or `.`. */
export class CharacterSet {
  readonly #ascii = new Uint8Array(ASCII);
  readonly #expression: RegExp;

  /** `source`: the atom in the pattern, which matches exactly one code point. */
  constructor(source: string) {
    this.#expression = new RegExp(`^${source}$`, "u");
    for (let code = 0; code < ASCII; code++) this.#ascii[code] = Number(this.#asks(code));
  }

  has(codePoint: number): boolean {
    return codePoint < ASCII ? this.#ascii[codePoint] === 1 : this.#asks(codePoint);
  }

  /** The platform's engine knows all classes and properties; for a single character it is safe. */
  #asks(codePoint: number): boolean {
    return this.#expression.test(String.fromCodePoint(codePoint));
  }
}
