import { describe, expect, test } from "vitest";
import { readPlainXml } from "./read-plain-xml.ts";
import { readStrictly } from "./read-xml.ts";

/** The blocks in which XML or JavaScript make differences, and some of all the others. */
const UNITS = Array.from({ length: 0x10000 }, (_, unit) => unit).filter((unit) => {
  const block = unit >> 8;
  return block < 3 || [0x20, 0x30, 0xd7, 0xd8, 0xdb, 0xdc, 0xdf, 0xe0, 0xfe, 0xff].includes(block) || unit % 97 === 0;
});

/** Whether the plain reader reads it, which it may only as the strict one does; where that complains, this throws. */
function isReadAlike(text: string): boolean {
  const plain = readPlainXml(text);
  if (plain === undefined) return false;
  const strict = readStrictly(text);
  // Compared as text, which takes a fraction of the time; a difference is shown in full.
  if (JSON.stringify(plain) !== JSON.stringify(strict)) expect(plain, JSON.stringify(text)).toStrictEqual(strict);
  return true;
}

describe("what the plain reader of XML reads, the strict one reads the same", () => {
  test.each([
    ["in a text", "<a>x", "y</a>"],
    ["after a bracket", "<a>]]", "></a>"],
    ["in a reference", "<a>&am", "p;</a>"],
    ["after &", "<a>&", "lt;</a>"],
    ["in a value", `<a b="x`, `y"/>`],
    ["in a declared namespace", `<a xmlns:b="`, `u" b:c=""/>`],
    ["at the start of a name", "<", "a/>"],
    ["in a name", "<a", "b/>"],
    ["in both names", "<a", "></a>"],
    ["in the name of an end", "<a></a", ">"],
    ["after a prefix", `<a xmlns:b="u"><b:`, "c/></a>"],
    ["before an attribute", "<a ", `b="1"/>`],
    ["in an attribute's name", "<a b", `="1"/>`],
    ["before a value", "<a b=", `"1"/>`],
    ["after a value", `<a b="1"`, "/>"],
    ["between values", `<a b="1"`, `c="2"/>`],
    ["between slash and end", "<a/", ">"],
    ["before everything", "", "<a/>"],
    ["before a declaration", "", `<?xml version="1.0"?><a/>`],
    ["in a declaration", `<?xml version="1.0"`, "?><a/>"],
    ["in an encoding", `<?xml version="1.0" encoding="u`, `tf-8"?><a/>`],
    ["after a declaration", `<?xml version="1.0"?>`, "<a/>"],
    ["after everything", "<a></a>", ""],
  ])("whatever character stands %s", (_, before, after) => {
    for (const unit of UNITS) isReadAlike(before + String.fromCharCode(unit) + after);
  });

  test.each([
    "<a>&#0;</a>",
    "<a>&#xD800;</a>",
    "<a>&#x110000;</a>",
    `<a b="&#10;"/>`,
    "<a>&amp;lt;&amp;#60;</a>",
    "<a>&AMP;</a>",
    "<a>&amp</a>",
    "<a>&lt<b/>;</a>",
    "<a>]]&gt;]]</a>",
    "<a>]]<b/>></a>",
    `<a b="]]&gt;"/>`,
    "<a>\r\r\n\n\r</a>",
    "<a\rb='1'\r\n/>\r",
    `<a b="\r"/>`,
    "<a/>\r",
    "<a/>\0",
    "\ufeff<a/>",
    "\ufeff\ufeff<a/>",
    "\n<?xml version='1.0'?><a/>",
    `<?xml version="1.0" encoding="-"?><a/>`,
    `<?xml version="1.0" encoding="utf-8" standalone="yes" ?>\n<a/>\n`,
    `<?xml version="1.0" standalone="yes" encoding="utf-8"?><a/>`,
    `<?xml version="1.0"?><?xml version="1.0"?><a/>`,
    `<?xml version="1.0"?>`,
    "<a-.1 _._='-'/>",
    "<a:/>",
    "<:a/>",
    "<a></a:b>",
    `<a xmlns:b="u"><b:c></c></a>`,
    `<a xmlns:b="u" xmlns:c="u"><b:d></c:d></a>`,
    "<a><b></a></b>",
    "<a></a></a>",
    "<a/></a>",
    "<xml/>",
    "<xml:a xml:b=''/>",
    "<xmlns:a/>",
    "<xmlns/>",
    `<a xmlns:xmlns="http://www.w3.org/2000/xmlns/"/>`,
    `<a xmlns:xml="http://www.w3.org/XML/1998/namespace"/>`,
    `<a xmlns:xml="urn:u"/>`,
    `<a xmlns:xmlns="urn:u"/>`,
    `<a xmlns="http://www.w3.org/XML/1998/namespace"/>`,
    `<a xmlns:b="http://www.w3.org/2000/xmlns/"/>`,
    `<a xmlns:b="http://www.w3.org/1999/xhtml " b:c=""/>`,
    `<a xmlns="u" xmlns="v"/>`,
    `<a xmlns:b="u" xmlns:b="v"/>`,
    `<a b:c="1" xmlns:b="u"><b:d xmlns:b="v" b:c="2"/><b:d/></a>`,
    `<a xmlns:b="u"/><b:c/>`,
    `<r><a xmlns:b="u"/><b:c/></r>`,
    `<r><a xmlns:b="u"></a><b:c/></r>`,
    `<r><a xmlns="u"/><c/></r>`,
    `<a xmlns="u"><b xmlns=""><c xmlns="v"/><c/></b><b/></a>`,
    `<a xmlns="u" xmlns:b="u" b:c="1" c="2"/>`,
    `<a xmlnsb="u" b="1"/>`,
    `<a xmlns.b="u"/>`,
    `<a xmlns:__proto__="u"><__proto__:b __proto__:__proto__="1" __proto__="2"/></a>`,
    `<__proto__:a/>`,
    `<constructor:a/>`,
    `<a constructor:b="1"/>`,
    `<a xmlns:b="u" xmlns:c="u} d" b:x="1" c:x="2" x="3"/>`,
    `<a b=1/>`,
    `<a b='1"/>`,
    `<a b = '>' c\n=\n"/>"/>`,
    `<a/ b="1">`,
    `<a / >`,
    "< a/>",
    "</a>",
    "<a></ a>",
    "<a></a b='1'>",
    "<a>></a>",
    "<>",
    "<a></>",
    "&amp;<a/>",
    "<a/>&amp;",
  ])("%j", (text) => {
    isReadAlike(text);
  });

  test("at its limits and just beyond them", { timeout: 30_000 }, () => {
    const nested = (depth: number, inner: string): string => "<a>".repeat(depth) + inner + "</a>".repeat(depth);
    const attributes = (count: number): string => Array.from({ length: count }, (_, at) => ` a${at}=""`).join("");
    const long = "x".repeat(4_000_000);
    for (const text of [
      nested(100, ""),
      nested(99, "<b/>"),
      `<a${attributes(200)}/>`,
      `<a b="${long}">${long}</a>`,
      `<a>${long.slice(2)}<b/>&amp;\r\n</a>`,
      `<a>${"<b/>".repeat(199_999)}</a>`,
      `<${long.slice(-100_000)}></${long.slice(-100_000)}>`,
    ]) {
      expect(isReadAlike(text)).toBe(true);
    }
    for (const text of [
      nested(101, ""),
      nested(100, "<b/>"),
      `<a${attributes(201)}/>`,
      `<a b="${long}x"/>`,
      `<a>${long}x</a>`,
      `<a>${long.slice(2)}<b/>&amp;\r\nx</a>`,
      `<a>${"<b/>".repeat(200_000)}</a>`,
    ]) {
      expect(readPlainXml(text)).toBeUndefined();
    }
  });

  test("documents that are written at random, and the same with random mistakes", { timeout: 30_000 }, () => {
    const random = generator(20_261_115);
    let whole = 0;
    let mistaken = 0;
    for (let run = 0; run < 15_000; run++) {
      const text = written(random);
      if (isReadAlike(text)) whole += 1;
      if (isReadAlike(spoilt(text, random))) mistaken += 1;
    }
    expect(whole).toBeGreaterThan(3_000);
    expect(mistaken).toBeGreaterThan(500);
  });
});

type Random = (below: number) => number;

const PREFIXES = ["", "", "", "b:", "c:", "xml:", "__proto__:"];
const NAMES = ["a", "d", "e-1", "_.f", "xmlns", "__proto__", "constructor"];
const SPACES = ["urn:u", "urn:u", "urn:v", "w", "", " urn:u", "http://www.w3.org/XML/1998/namespace"];
const TEXTS = [
  "",
  "x",
  " ",
  "\n",
  "\r\n",
  "\r",
  "\t",
  "&lt;",
  "&amp;",
  "&quot;",
  "]]",
  ">",
  "ä",
  "\u2028",
  "\u0085",
  "/",
  "=",
];
const BLANKS = [" ", " ", " ", "\n", "\t", "\r\n", "  "];
const MISTAKES =
  String.raw`<|>|&|;|/|=|:|'|"|!|?|-|]|x|1|]]>|<!|<?|&#65;|&lt|</a>|<a>|<d/>|xmlns|b:| b:a=""| xmlns:b="urn:z"| xmlns=""`
    .split("|")
    // Halves of pairs, too.
    .concat(" \n\r\t\0ä\u00a0\ufeff\uffff\ud800\udc00".split(""));

function written(random: Random): string {
  const declared = random(3) === 0 ? `<?xml version="1.0"${random(2) === 0 ? ' encoding="UTF-8"' : ""}?>\n` : "";
  return declared + element(random, 4, random(4) === 0 ? "" : ` xmlns:b="urn:u" xmlns:c="urn:v"`);
}

function element(random: Random, depth: number, declarations = ""): string {
  const name = qualified(random);
  const attributes = declarations + repeated(random(4), () => oneOf(BLANKS, random) + attribute(random));
  if (random(4) === 0) return `<${name}${attributes}/>`;
  const inner = repeated(random(4), () => {
    return depth > 0 && random(2) === 0 ? element(random, depth - 1) : oneOf(TEXTS, random);
  });
  return `<${name}${attributes}>${inner}</${name}${random(6) === 0 ? oneOf(BLANKS, random) : ""}>`;
}

function attribute(random: Random): string {
  const quote = random(2) === 0 ? '"' : "'";
  const equals = random(6) === 0 ? ` =${oneOf(BLANKS, random)}` : "=";
  if (random(3) > 0) return qualified(random) + equals + quote + oneOf(TEXTS, random) + quote;
  const declared = oneOf(["xmlns", "xmlns:b", "xmlns:c", "xmlns:__proto__"], random);
  return declared + equals + quote + oneOf(SPACES, random) + quote;
}

function qualified(random: Random): string {
  return oneOf(PREFIXES, random) + oneOf(NAMES, random);
}

/** One or two places are cut, filled, or repeated elsewhere. */
function spoilt(text: string, random: Random): string {
  let changed = text;
  for (let times = random(2); times >= 0; times--) {
    const at = random(changed.length + 1);
    const from = random(changed.length + 1);
    const put = [oneOf(MISTAKES, random), "", changed.slice(from, from + random(12))][random(3)] ?? "";
    changed = changed.slice(0, at) + put + changed.slice(at + random(4));
  }
  return changed;
}

function repeated(times: number, write: () => string): string {
  return Array.from({ length: times }, write).join("");
}

function oneOf(from: readonly string[], random: Random): string {
  return from[random(from.length)] ?? "";
}

/** The same numbers for the same seed. */
function generator(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
