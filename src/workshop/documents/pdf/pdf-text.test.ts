import { expect, test } from "vitest";
import {
  pdfLines,
  pdfOf,
  pdfOfObjects,
  pdfOfStreams,
  pdfTable,
} from "../../../../test/fixtures/workshop/pdf-writer.ts";
import { readText } from "../manual/blocks/read-text.ts";
import { pdfText } from "./pdf-text.ts";

const FIELDS = [
  ["Field", "Type", "Rules"],
  ["hotel_id", "integer", "1 to 99999"],
  ["illilillillil", "text", "a name of thin letters,\nwrapped"],
  ["WWWWWWWW", "text", ""],
];

test("a PDF becomes text with its headings, columns, code and pages", async () => {
  const pages = [
    [
      { text: "Guest API", x: 50, y: 60, size: 22 },
      ...pdfLines(["The API has two calls. Prices are in euro.", "Ask before you use it."], { y: 100 }),
      { text: "1. Fields", x: 50, y: 150, size: 14 },
      ...pdfTable(FIELDS, [50, 150, 220], 180),
    ],
    [
      ...pdfLines(["An example of a request:"], { y: 60 }),
      ...pdfLines(["{", '  "hotel_id": 12', "}"], { y: 90, font: "code" }),
      ...pdfLines(["The end."], { y: 160 }),
    ],
  ];
  const { text } = await pdfText(pdfOf(pages));
  expect(text).toBe(`# Guest API

The API has two calls. Prices are in euro.
Ask before you use it.

## 1. Fields

Field               Type          Rules

hotel_id            integer       1 to 99999

illilillillil       text          a name of thin letters,
                                  wrapped

WWWWWWWW            text
\fAn example of a request:

\`\`\`
{
  "hotel_id": 12
}
\`\`\`

The end.
`);
  const table = readText(text).blocks.find((block) => block.kind === "table");
  expect(table?.rows.map((row) => row.map((cell) => cell.text))).toEqual([
    ["hotel_id", "integer", "1 to 99999"],
    ["illilillillil", "text", "a name of thin letters, wrapped"],
    ["WWWWWWWW", "text", ""],
  ]);
});

test("PDFs without text, with a password, or damaged are refused with what to do", async () => {
  await expect(pdfText(pdfOfStreams([Buffer.from("0 0 m 10 10 l S")]))).rejects.toMatchObject({
    message: "has no text, only pictures of pages",
    fix: expect.stringContaining("OCR") as string,
  });
  const key = "0".repeat(64);
  const encrypted = pdfOfObjects(
    ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"],
    `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -44 >> /ID [<00> <00>]`,
  );
  await expect(pdfText(encrypted)).rejects.toThrow("is encrypted and needs a password");
  await expect(pdfText(Buffer.from("%PDF-1.7\nnothing"))).rejects.toThrow(/^is damaged: /);
});
