import { describe, expect, test } from "vitest";
import { pdfText } from "../../../src/workshop/documents/pdf/pdf-text.ts";
import { pdfOf, pdfTable, type PdfText } from "../../fixtures/workshop/pdf-writer.ts";
import { draftManual } from "./manual-draft.ts";

/** A manual whose headings have this size and font; the other text has 10 points. */
function sailings({ size = 10, font = "text" }: Pick<PdfText, "size" | "font">, prefix = ""): Uint8Array {
  const heading = (text: string, y: number): PdfText => ({ text: prefix + text, x: 50, y, size, font });
  const text = (words: string, y: number): PdfText => ({ text: words, x: 50, y });
  const code = (words: string, y: number): PdfText => ({ text: words, x: 50, y, font: "code" });
  const columns = [50, 150, 230, 300];
  const head = ["Parameter", "Type", "Required", "Description"];
  return pdfOf([
    [
      { text: "Seaways Booking API", x: 50, y: 60, size: 20 },
      text("With this interface, travel agents find sailings and book them.", 90),
      text("Base URL: https://api.seaways.test/v1", 102),
      heading("Search sailings", 130),
      text("Finds sailings between two ports on a day.", 150),
      code("GET /sailings/search", 170),
      ...pdfTable(
        [head, ["from", "string", "yes", "Port of departure"], ["date", "date", "yes", "The day"]],
        columns,
        195,
      ),
      text("Response", 290),
      code('{ "sailings": [{ "id": 17, "ship": "Aurora" }] }', 308),
      heading("Book a sailing", 350),
      code("POST /bookings", 370),
      ...pdfTable([head, ["sailing", "integer", "yes", "The sailing"], ["name", "string", "yes", "Who"]], columns, 395),
      heading("Cancel a booking", 500),
      code("DELETE /bookings/{id}", 520),
    ],
  ]);
}

describe("X5 headings of PDF manuals name the tools", () => {
  test.each([
    ["larger letters", sailings({ size: 14 })],
    ["slightly larger letters", sailings({ size: 11 })],
    ["bold letters of the size of the text", sailings({ font: "bold" })],
    ["numbers", sailings({ font: "bold" }, "3.1 ")],
    ["lines of their own", sailings({})],
  ])("%s", async (_, bytes) => {
    const { text } = await pdfText(bytes);
    const { file } = await draftManual(text, "manual.pdf");
    expect(Object.keys(file.tools)).toEqual(["search_sailings", "book_sailing", "cancel_booking"]);
  });
});
