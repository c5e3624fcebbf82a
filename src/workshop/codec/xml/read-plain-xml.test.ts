import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readPlainXml } from "./read-plain-xml.ts";
import { readStrictly } from "./read-xml.ts";
import { examples } from "../../../../test/fixtures/depth.ts";

const MANUAL = readFileSync(new URL("../../../../api/capcorn/manual.md", import.meta.url), "utf8");
const PRINTED = [...MANUAL.matchAll(/^```xml\n([^]*?)^```$/gm)].map(([, xml = ""]) => xml);

/** Whatever the plain reader reads, the strict one reads the same. */
function expectAgreement(text: string): boolean {
  const plain = readPlainXml(text);
  if (plain) expect(plain, text).toStrictEqual(readStrictly(text));
  return plain !== undefined;
}

describe("the plain reader of XML", () => {
  test("reads every document that the hotel's manual prints, as the strict one does", () => {
    expect(PRINTED.length).toBe(10);
    for (const xml of PRINTED) {
      expect(expectAgreement(xml)).toBe(true);
      const root = xml.replace(/^<\?xml.*\?>\n/, "").replaceAll("\n", "\r\n");
      expect(expectAgreement(`<?xml version="1.0" encoding="utf-8"?>\r\n${root}`)).toBe(true);
    }
  });

  test.each([
    `<a xmlns="urn:a" xmlns:b="urn:b"><b:c b:d="1" d="2"/><e xmlns=""/>&lt;ä&amp;&gt;</a>`,
    `<a b='"' c="'"/>`,
    `<a>x<b/>y</a >`,
    `<a xml:lang="de" />`,
    `<a xmlns:b="urn:b" b:c="1" xmlns:d="urn:d" d:c="2"/>`,
  ])("reads %s as the strict one does", (text) => expect(expectAgreement(text)).toBe(true));

  test.each([
    "",
    "a",
    "<a>",
    "<a></b>",
    "<a/><b/>",
    "<a/>x",
    "<a b/>",
    `<a b="1"c="2"/>`,
    `<a b="1" b="2"/>`,
    `<a xmlns:b="u" xmlns:c="u" b:d="1" c:d="2"/>`,
    `<a b="<"/>`,
    `<a b="x\ty"/>`,
    "<a>&nbsp;</a>",
    "<a>&constructor;</a>",
    "<a>& </a>",
    "<a>&#65;</a>",
    "<b:a/>",
    "<a b:c='1'/>",
    `<a xmlns:b=""/>`,
    `<a xmlns:xml="urn:x"/>`,
    "<a>]]></a>",
    "<a><![CDATA[x]]></a>",
    "<!DOCTYPE a><a/>",
    "<a><!-- x --></a>",
    "<a><?x?></a>",
    "<a>\u0001</a>",
    "<a>😀</a>",
    "<ä/>",
    "<a:b:c/>",
    "<1/>",
    `<?xml version="1.1"?><a/>`,
    `<a ${Array.from({ length: 40 }, (_, index) => `xmlns:p${index}="urn:${index}"`).join(" ")}/>`,
    "\u00a0<a/>",
  ])("leaves %j to the strict one", (text) => expect(readPlainXml(text)).toBeUndefined());

  const piece = fc.constantFrom(
    ..."<a> </a> <b:c> </b:c> <d/> <e x='1'> </e> <f xmlns='u'> </f> <a xmlns:b='v'> &amp; &lt; & < > / = ' \" : x ä 1 _ - . <?xml <!-- ]]>".split(
      " ",
    ),
    " ",
    "\n",
    "\t",
    "\r\n",
    ' y="2"',
    ' b:y="3"',
    ' xmlns:b="w"',
    "__proto__",
    "xmlns",
    "xml:",
  );

  test("reads nothing otherwise than the strict one, whatever it is given", () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, isWrapped) => {
        const inner = pieces.join("");
        if (expectAgreement(isWrapped ? `<r xmlns:b="urn:b">${inner}</r>` : inner)) read += 1;
      }),
      { numRuns: examples(20_000), seed: 11 },
    );
    expect(read).toBeGreaterThan(500);
  });

  test("reads what is left of a document after a change as the strict one does", () => {
    const [, answer = ""] = PRINTED;
    fc.assert(
      fc.property(fc.nat(answer.length), fc.nat(3), piece, (at, cut, put) => {
        expectAgreement(answer.slice(0, at) + put + answer.slice(at + cut));
      }),
      { numRuns: examples(3_000), seed: 11 },
    );
  });
});
