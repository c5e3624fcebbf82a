import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { printedXml } from "../../../../test/fixtures/workshop/example.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { XmlReader } from "./xml-codec.ts";
import { writeXml } from "./xml-codec.ts";
import { examples } from "../../../../test/fixtures/depth.ts";

const reader = new XmlReader();
const readXml = (body: Uint8Array | string) => reader.read(body);

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

describe("attacks are refused (X6, R8)", () => {
  const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join("");
  test.each([
    ["billion laughs", `<!DOCTYPE a [<!ENTITY l0 "ha">${laughs}]><a>&l9;</a>`, "document type"],
    ["an external entity", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`, "document type"],
    ["an external DTD", `<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a/>`, "document type"],
    ["a parameter entity", `<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1/">%p;]><a/>`, "document type"],
    ["an empty document type", "<!DOCTYPE a><a/>", "document type"],
    ["an entity nobody declared", "<a>&nbsp;</a>", "undefined entity"],
    ["an entity named like a member of objects", "<a>&toString;&__proto__;</a>", "undefined entity"],
    ["nesting", "<a>".repeat(101) + "</a>".repeat(101), "nested deeper than 100"],
    ["nesting that never ends", "<a>".repeat(200_000), "nested deeper than 100"],
    ["a huge text", `<a>${"x".repeat(4_000_001)}</a>`, "longer than 4000000"],
    ["a huge attribute", `<a b="${"x".repeat(4_000_001)}"/>`, "longer than 4000000"],
    ["too many elements", `<a>${"<b/>".repeat(200_001)}</a>`, "more than 200000 elements"],
    [
      "too many attributes",
      `<a ${Array.from({ length: 201 }, (_, n) => `a${n}=""`).join(" ")}/>`,
      "more than 200 attributes",
    ],
    ["]]> in text", "<a>]]></a>", "]]>"],
    ["a control character", "<a>\u0001</a>", "disallowed character"],
    ["a control character by number", "<a>&#1;</a>", ""],
    ["a control character of XML 1.1", `<?xml version="1.1"?><a>&#1;</a>`, ""],
    ["half of a character by number", "<a>&#xD800;</a>", ""],
    ["a second root", "<a/><b/>", "only one root"],
    ["text after the root", "<a/>x", "text data outside of root node"],
    ["a prefix that is not bound", "<p:a/>", "unbound namespace prefix"],
    ["an attribute twice", `<a b="1" b="2"/>`, "duplicate attribute"],
    ["an attribute twice by namespace", `<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>`, "duplicate attribute"],
    ["tags that do not match", "<a></b>", "line 1, column"],
    ["a document that is cut off", "<a><b>", "unclosed tag"],
    ["nothing", "", "root element"],
    ["no XML", "{}", "text data outside of root node"],
  ])("%s", (_, xml, message) => {
    const refused = expect.objectContaining({ code: "PROTOCOL_VIOLATION", message: expect.stringContaining(message) });
    expect(() => readXml(xml)).toThrow(refused);
    expect(() => readXml(Buffer.from(xml))).toThrow(NexusError);
  });
});

describe("encodings", () => {
  const u16 = (text: string, big: boolean) => {
    const little = Buffer.from(`\uFEFF${text}`, "utf16le");
    return big ? little.swap16() : little;
  };
  test.each([
    ["UTF-8", bytes("<a>ü</a>")],
    ["UTF-8 with a mark", bytes([0xef, 0xbb, 0xbf], `<?xml version="1.0" encoding="utf-8"?><a>ü</a>`)],
    ["ISO-8859-1", bytes(`<?xml version='1.0' encoding='ISO-8859-1'?><a>`, [0xfc], "</a>")],
    ["US-ASCII", bytes(`<?xml version="1.0" encoding="US-ASCII"?><a>&#xFC;</a>`)],
    ["UTF-16, little end first", u16(`<?xml version="1.0" encoding="UTF-16"?><a>ü</a>`, false)],
    ["UTF-16, big end first", u16("<a>ü</a>", true)],
  ])("%s is read", (_, body) => {
    expect(readXml(body)).toMatchObject({ name: "a", text: "ü" });
  });

  test.each([
    ["bytes that are no UTF-8", bytes("<a>", [0xfc], "</a>"), "its bytes are not UTF-8"],
    ["US-ASCII with more", bytes(`<?xml version="1.0" encoding="ascii"?><a>ü</a>`), "US-ASCII"],
    ["another encoding", bytes(`<?xml version="1.0" encoding="UTF-7"?><a/>`), `encoding "utf-7" is not supported`],
    ["a contradiction", bytes([0xef, 0xbb, 0xbf], `<?xml version="1.0" encoding="iso-8859-1"?><a/>`), "contradict"],
    ["UTF-16 without a mark", Buffer.from("<a/>", "utf16le"), ""],
    ["half of UTF-16", bytes([0xff, 0xfe, 0x3c]), "UTF-16"],
  ])("%s is refused", (_, body, message) => {
    expect(() => readXml(body)).toThrow(
      expect.objectContaining({ code: "PROTOCOL_VIOLATION", message: expect.stringContaining(message) }),
    );
  });
});

/** Small and fast: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("strings of bytes, random and mutated from real answers, are read or refused and nothing else (X6)", async () => {
  const random = generator(20_251_217);
  const upTo = (limit: number) => Math.floor(random() * limit);
  const samples = (await printedXml("capcorn")).map((xml) => Buffer.from(xml));
  const markup = "<>/=\"'&;![]-?:x \n#1A".split("").map((each) => each.charCodeAt(0));
  const next = (round: number): Buffer => {
    if (round % 3 === 0) return Buffer.from(Array.from({ length: upTo(40) }, () => upTo(256)));
    if (round % 3 === 1) return Buffer.from(Array.from({ length: upTo(60) }, () => markup[upTo(markup.length)] ?? 0));
    const sample = samples[upTo(samples.length)] ?? Buffer.alloc(0);
    const at = upTo(sample.length);
    const piece = sample.subarray(at, at + 10 + upTo(150));
    const mutated = Buffer.concat([sample.subarray(0, upTo(100)), piece]);
    for (let count = upTo(4); count > 0; count--) mutated[upTo(mutated.length)] = upTo(256);
    return mutated;
  };
  let refused = 0;
  const rounds = examples(100_000);
  // Traces of a hundred thousand errors would take longer than reading.
  const { stackTraceLimit } = Error;
  onTestFinished(() => void (Error.stackTraceLimit = stackTraceLimit));
  Error.stackTraceLimit = 0;
  for (let round = 0; round < rounds; round++) {
    const body = next(round);
    try {
      readXml(body);
    } catch (error) {
      if (!(error instanceof NexusError))
        throw new Error(`${body.toString("latin1")}: ${String(error)}`, { cause: error });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(rounds / 2);
});

test("real answers with single bytes changed are read or refused", async () => {
  const sample = Buffer.from((await printedXml("capcorn"))[3] ?? "");
  const change = fc.tuple(fc.nat(sample.length - 1), fc.nat(255));
  const check = (changes: [number, number][]) => {
    const body = Buffer.from(sample);
    for (const [at, byte] of changes) body[at] = byte;
    try {
      readXml(body);
    } catch (error) {
      expect(error).toBeInstanceOf(NexusError);
    }
  };
  fc.assert(fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), check), { numRuns: examples(2_000) });
});

test("any tree that is written is read as the same tree", () => {
  const name = fc.stringMatching(/^[A-Za-zä_][\w.ä-]{0,6}$/);
  const namespace = fc.constantFrom("", "urn:a", "urn:b", "urn:c");
  const text = fc.string({ unit: "binary-ascii", maxLength: 12 }).map((each) => each.replace(/[^\t\n\r -~]/g, ""));
  const attributes = fc.uniqueArray(fc.record({ name, namespace, value: text }), {
    maxLength: 3,
    selector: (each) => each.name + each.namespace,
  });
  const { element } = fc.letrec<{ element: unknown }>((tie) => ({
    element: fc.record({
      name,
      namespace,
      attributes,
      children: fc.oneof({ maxDepth: 3 }, fc.constant([]), fc.array(tie("element"), { maxLength: 3 })),
      text,
    }),
  }));
  const check = (tree: unknown) => {
    const withoutDeclarations = JSON.parse(
      JSON.stringify(readXml(writeXml(tree as Parameters<typeof writeXml>[0], new Map([["urn:b", "bee"]])))),
      (key, value: unknown) =>
        key === "attributes"
          ? (value as { namespace: string }[]).filter((each) => each.namespace !== "http://www.w3.org/2000/xmlns/")
          : value,
    ) as unknown;
    expect(withoutDeclarations).toEqual(JSON.parse(JSON.stringify(tree)));
  };
  fc.assert(fc.property(element, check), { numRuns: examples(500) });
});
