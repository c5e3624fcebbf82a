import {
  Composer,
  isAlias,
  isScalar,
  Lexer,
  Parser,
  visit,
  YAMLParseError,
  type Alias,
  type CST,
  type Document,
  type Node,
  type SchemaOptions,
  type YAMLMap,
} from "yaml";

/**
 * The library recurses over nested values. With an almost full stack the engine may abort the process instead of
 * throwing, when it compiles a regular expression. Readers have smaller limits of their own.
 */
const MAX_DEPTH = 250;
/** Enough for a megabyte of usual text. */
const MAX_LEXEMES = 500_000;

interface YamlOptions extends Pick<SchemaOptions, "merge" | "schema"> {
  /** Whether a repeated key in a map is an error; default: true. */
  uniqueKeys?: boolean;
  /** Words, signs and spaces. Each costs microseconds and hundreds of bytes, and much more if it is a mistake. */
  maxLexemes?: number;
}

/** The first document of a text. Throws a RangeError if it is nested too deeply or has too many parts. */
export function parseBoundedYaml(text: string, options: YamlOptions = {}): Document.Parsed {
  const { uniqueKeys = true, maxLexemes = MAX_LEXEMES, ...schema } = options;
  // The library's own search for repeated keys would take quadratic time.
  const composer = new Composer({ ...schema, uniqueKeys: false });
  let document: Document.Parsed | undefined;
  for (const next of composer.compose(boundedTokens(text, maxLexemes), true, text.length)) {
    if (document) {
      document.errors.push(problem(next, "MULTIPLE_DOCS", "A file may have one document only"));
      break;
    }
    document = next;
  }
  if (!document) throw new TypeError("The YAML parser returned no document");
  if (uniqueKeys && document.errors.length === 0) checkKeys(document);
  return document;
}

/**
 * The target of each alias: the last anchor of its name before it. One pass; the library would search again for each.
 */
export function aliasTargets(document: Document): Map<Alias, Node | undefined> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node | undefined>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) targets.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function* boundedTokens(text: string, maxLexemes: number): Generator<CST.Token, void> {
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (++lexemes > maxLexemes) throw new RangeError(`more than ${maxLexemes} words and signs`);
    // Checked while it grows: the parser recurses where nested values end.
    if (parser.stack.length > MAX_DEPTH) throw new RangeError(`nested deeper than ${MAX_DEPTH} levels`);
  }
  yield* parser.end();
}

function checkKeys(document: Document.Parsed): void {
  visit(document, {
    Map(_key, map) {
      const repeated = repeatedKey(map);
      if (!repeated) return undefined;
      document.errors.push(problem(repeated, "DUPLICATE_KEY", "Map keys must be unique"));
      return visit.BREAK;
    },
  });
}

function repeatedKey({ items }: YAMLMap): Node | undefined {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    // Merge keys may be repeated, and keys that are not plain values are never equal.
    if (!isScalar(key) || typeof key.value === "symbol") continue;
    if (seen.has(key.value)) return key;
    seen.add(key.value);
  }
  return undefined;
}

function problem({ range }: Pick<Node, "range">, code: "MULTIPLE_DOCS" | "DUPLICATE_KEY", message: string) {
  return new YAMLParseError([range?.[0] ?? 0, range?.[1] ?? 0], code, message);
}

/** The value of a YAML text from a server. Throws if it is invalid or nested too deeply. */
export function parseYaml(text: string): unknown {
  const document = parseBoundedYaml(text);
  const [error] = document.errors;
  if (error) throw error;
  return document.toJS({ maxAliasCount: 100 });
}
