/** What a pattern describes is shorter: a number, a name, an address. */
const MAX_CHARACTERS = 4_096;

/**
 * A pattern of the file, for texts from outside. What it costs to find out that a text does not match may grow with the square
 * of its length, and nothing can stop it half way: a longer one does not match.
 */
export function boundedPattern(pattern: string, flags = "u"): BoundedPattern {
  const expression = new RegExp(pattern, flags);
  return {
    test: (text) => text.length <= MAX_CHARACTERS && expression.test(text),
    toString: () => expression.toString(),
  };
}

interface BoundedPattern {
  test(text: string): boolean;
  /** Validators tell patterns apart by it. */
  toString(): string;
}
