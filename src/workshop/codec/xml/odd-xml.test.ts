import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { NexusError } from "../../../errors/nexus-error.ts";
import { XML_NAMESPACE, XMLNS_NAMESPACE, type XmlElement } from "../record/xml-tree.ts";
import { XmlReader } from "./xml-codec.ts";

const MANUAL = readFileSync(new URL("../../../../api/capcorn/manual.md", import.meta.url), "utf8");
const PRINTED = [...MANUAL.matchAll(/^```xml\n([^]*?)^```$/gm)].map(([, xml = ""]) => xml);

/** `{namespace}name @attribute=value text(child, child)` */
function outline({ name, namespace, attributes, children, text }: XmlElement): string {
  const written = attributes.map((each) => ` @${qualified(each)}=${each.value}`).join("");
  const inner = children.length === 0 ? "" : `(${children.map(outline).join(", ")})`;
  return qualified({ name, namespace }) + written + (text === "" ? "" : ` ${text}`) + inner;
}

function qualified({ name, namespace }: { name: string; namespace: string }): string {
  const known = { [XML_NAMESPACE]: "xml", [XMLNS_NAMESPACE]: "xmlns" }[namespace] ?? namespace;
  return known === "" ? name : `{${known}}${name}`;
}

/** What a reader makes of a text; undefined where it refuses. */
function attempt(reader: XmlReader, text: string): string | undefined {
  try {
    return outline(reader.read(text));
  } catch (error) {
    if (error instanceof NexusError) return undefined;
    throw error;
  }
}

describe("odd XML", () => {
  test.each([
    ['<a b="&#10;"/>', "a @b=\n"],
    ["<a>&amp;lt;&amp;#60;</a>", "a &lt;&#60;"],
    ["<a>]]&gt;]]</a>", "a ]]>]]"],
    ["<a>]]<b/>></a>", "a ]]>(b)"],
    ['<a b="]]&gt;"/>', "a @b=]]>"],
    ["<a>\r\r\n\n\r</a>", "a \n\n\n\n"],
    ["<a\rb='1'\r\n/>\r", "a @b=1"],
    ['<a b="\r"/>', "a @b= "],
    ["<a/>\r", "a"],
    ["\ufeff<a/>", "a"],
    ["\ufeff\ufeff<a/>", "a"],
    ['<?xml version="1.0" encoding="utf-8" standalone="yes" ?>\n<a/>\n', "a"],
    ["<a-.1 _._='-'/>", "a-.1 @_._=-"],
    ["<xml/>", "xml"],
    ["<xml:a xml:b=''/>", "{xml}a @{xml}b="],
    ["<xmlns/>", "xmlns"],
    ['<a xmlns:xml="http://www.w3.org/XML/1998/namespace"/>', "a @{xmlns}xml=http://www.w3.org/XML/1998/namespace"],
    [
      '<a xmlns:b="http://www.w3.org/1999/xhtml " b:c=""/>',
      "a @{xmlns}b=http://www.w3.org/1999/xhtml  @{http://www.w3.org/1999/xhtml}c=",
    ],
    [
      '<a b:c="1" xmlns:b="u"><b:d xmlns:b="v" b:c="2"/><b:d/></a>',
      "a @{u}c=1 @{xmlns}b=u({v}d @{xmlns}b=v @{v}c=2, {u}d)",
    ],
    ['<r><a xmlns="u"/><c/></r>', "r({u}a @{xmlns}xmlns=u, c)"],
    [
      '<a xmlns="u"><b xmlns=""><c xmlns="v"/><c/></b><b/></a>',
      "{u}a @{xmlns}xmlns=u(b @{xmlns}xmlns=({v}c @{xmlns}xmlns=v, c), {u}b)",
    ],
    ['<a xmlns="u" xmlns:b="u" b:c="1" c="2"/>', "{u}a @{xmlns}xmlns=u @{xmlns}b=u @{u}c=1 @c=2"],
    ['<a xmlnsb="u" b="1"/>', "a @xmlnsb=u @b=1"],
    ['<a xmlns.b="u"/>', "a @xmlns.b=u"],
    [
      '<a xmlns:__proto__="u"><__proto__:b __proto__:__proto__="1" __proto__="2"/></a>',
      "a @{xmlns}__proto__=u({u}b @{u}__proto__=1 @__proto__=2)",
    ],
    ['<a xmlns:b="u" xmlns:c="u} d" b:x="1" c:x="2" x="3"/>', "a @{xmlns}b=u @{xmlns}c=u} d @{u}x=1 @{u} d}x=2 @x=3"],
    ["<a b = '>' c\n=\n\"/>\"/>", "a @b=> @c=/>"],
    ["<a>></a>", "a >"],
    [
      '<a xmlns="urn:a" xmlns:b="urn:b"><b:c b:d="1" d="2"/><e xmlns=""/>&lt;ä&amp;&gt;</a>',
      "{urn:a}a @{xmlns}xmlns=urn:a @{xmlns}b=urn:b <ä&>({urn:b}c @{urn:b}d=1 @d=2, e @{xmlns}xmlns=)",
    ],
    ["<a b='\"' c=\"'\"/>", "a @b=\" @c='"],
    ["<a>x<b/>y</a >", "a xy(b)"],
    ['<a xml:lang="de" />', "a @{xml}lang=de"],
    [
      '<a xmlns:b="urn:b" b:c="1" xmlns:d="urn:d" d:c="2"/>',
      "a @{xmlns}b=urn:b @{urn:b}c=1 @{xmlns}d=urn:d @{urn:d}c=2",
    ],
    ['<a b="x\ty"/>', "a @b=x y"],
    ["<a>&#65;</a>", "a A"],
    ["<a><![CDATA[x]]></a>", "a x"],
    ["<a><!-- x --></a>", "a"],
    ["<a><?x?></a>", "a"],
    ["<a>😀</a>", "a 😀"],
    ["<ä/>", "ä"],
    ['<?xml version="1.1"?><a/>', "a"],
  ])("%j is read as %j", (text, expected) => {
    expect(attempt(new XmlReader(), text)).toBe(expected);
  });

  test.each([
    "<a>&#0;</a>",
    "<a>&#xD800;</a>",
    "<a>&#x110000;</a>",
    "<a>&AMP;</a>",
    "<a>&amp</a>",
    "<a>&lt<b/>;</a>",
    "<a/>\u0000",
    "\n<?xml version='1.0'?><a/>",
    '<?xml version="1.0" encoding="-"?><a/>',
    '<?xml version="1.0" standalone="yes" encoding="utf-8"?><a/>',
    '<?xml version="1.0"?><?xml version="1.0"?><a/>',
    '<?xml version="1.0"?>',
    "<a:/>",
    "<:a/>",
    "<a></a:b>",
    '<a xmlns:b="u"><b:c></c></a>',
    '<a xmlns:b="u" xmlns:c="u"><b:d></c:d></a>',
    "<a><b></a></b>",
    "<a></a></a>",
    "<a/></a>",
    "<xmlns:a/>",
    '<a xmlns:xmlns="http://www.w3.org/2000/xmlns/"/>',
    '<a xmlns:xml="urn:u"/>',
    '<a xmlns:xmlns="urn:u"/>',
    '<a xmlns="http://www.w3.org/XML/1998/namespace"/>',
    '<a xmlns:b="http://www.w3.org/2000/xmlns/"/>',
    '<a xmlns="u" xmlns="v"/>',
    '<a xmlns:b="u" xmlns:b="v"/>',
    '<a xmlns:b="u"/><b:c/>',
    '<r><a xmlns:b="u"/><b:c/></r>',
    '<r><a xmlns:b="u"></a><b:c/></r>',
    "<__proto__:a/>",
    "<constructor:a/>",
    '<a constructor:b="1"/>',
    "<a b=1/>",
    "<a b='1\"/>",
    '<a/ b="1">',
    "<a / >",
    "< a/>",
    "</a>",
    "<a></ a>",
    "<a></a b='1'>",
    "<>",
    "<a></>",
    "&amp;<a/>",
    "<a/>&amp;",
    "",
    "a",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<a/>x",
    "<a b/>",
    '<a b="1"c="2"/>',
    '<a b="1" b="2"/>',
    '<a xmlns:b="u" xmlns:c="u" b:d="1" c:d="2"/>',
    '<a b="<"/>',
    "<a>&nbsp;</a>",
    "<a>&constructor;</a>",
    "<a>& </a>",
    "<b:a/>",
    "<a b:c='1'/>",
    '<a xmlns:b=""/>',
    '<a xmlns:xml="urn:x"/>',
    "<a>]]></a>",
    "<!DOCTYPE a><a/>",
    "<a>\u0001</a>",
    "<a:b:c/>",
    "<1/>",
    "\u00a0<a/>",
  ])("%j is refused", (text) => {
    expect(() => new XmlReader().read(text)).toThrow(expect.objectContaining({ code: "PROTOCOL_VIOLATION" }));
  });

  test("an element may declare 40 prefixes", () => {
    const declared = Array.from({ length: 40 }, (_, index) => `xmlns:p${index}="urn:${index}"`).join(" ");
    expect(new XmlReader().read(`<p39:a ${declared}/>`)).toMatchObject({ name: "a", namespace: "urn:39" });
  });

  test("every document of the hotel's manual is read, and the same with line ends of Windows", () => {
    const reader = new XmlReader();
    expect(PRINTED.length).toBe(10);
    for (const xml of PRINTED) {
      const expected = outline(reader.read(xml));
      const root = xml.replace(/^<\?xml.*\?>\n/, "").replaceAll("\n", "\r\n");
      expect(outline(reader.read(`<?xml version="1.0" encoding="utf-8"?>\r\n${root}`))).toBe(expected);
    }
  });

  test("documents at the limits are read, those just beyond are refused", { timeout: 30_000 }, () => {
    const nested = (depth: number, inner: string): string => "<a>".repeat(depth) + inner + "</a>".repeat(depth);
    const attributes = (count: number): string => Array.from({ length: count }, (_, at) => ` a${at}=""`).join("");
    const long = "x".repeat(4_000_000);
    const reader = new XmlReader();
    for (const text of [
      nested(100, ""),
      nested(99, "<b/>"),
      `<a${attributes(200)}/>`,
      `<a b="${long}">${long}</a>`,
      `<a>${long.slice(2)}<b/>&amp;\r\n</a>`,
      `<a>${"<b/>".repeat(199_999)}</a>`,
      `<${long.slice(-100_000)}></${long.slice(-100_000)}>`,
    ]) {
      expect(reader.read(text)).toBeDefined();
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
      expect(() => reader.read(text)).toThrow(NexusError);
    }
  });
});

test("a reader reads each document like a new reader, after any earlier document", { timeout: 30_000 }, () => {
  const random = generator(20_261_115);
  const used = new XmlReader();
  let read = 0;
  let refused = 0;
  for (let run = 0; run < 3_000; run++) {
    const text = written(random);
    for (const each of [text, spoilt(text, random)]) {
      const outcome = attempt(used, each);
      expect(outcome, each).toBe(attempt(new XmlReader(), each));
      if (outcome === undefined) refused += 1;
      else read += 1;
    }
  }
  expect(read).toBeGreaterThan(700);
  expect(refused).toBeGreaterThan(700);
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
    // Also halves of pairs.
    .concat(" \n\r\t\0ä\u00a0\ufeff\uffff\ud800\udc00".split(""));

function written(random: Random): string {
  const declared = random(3) === 0 ? `<?xml version="1.0"${random(2) === 0 ? ' encoding="UTF-8"' : ""}?>\n` : "";
  return declared + element(random, 4, random(4) === 0 ? "" : ` xmlns:b="urn:u" xmlns:c="urn:v"`);
}

function element(random: Random, depth: number, declarations = ""): string {
  const name = prefixed(random);
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
  if (random(3) > 0) return prefixed(random) + equals + quote + oneOf(TEXTS, random) + quote;
  const declared = oneOf(["xmlns", "xmlns:b", "xmlns:c", "xmlns:__proto__"], random);
  return declared + equals + quote + oneOf(SPACES, random) + quote;
}

function prefixed(random: Random): string {
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
