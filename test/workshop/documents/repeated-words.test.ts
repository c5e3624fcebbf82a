import { expect, test } from "vitest";
import { readManual } from "../../../src/workshop/documents/manual/read-manual.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { cpuMsOf } from "../../fixtures/cpu-time.ts";

test.each(["0", "4 ", "?", "a?", "/", "https://", "/(", "[a](/", "1,000", "1-"])(
  'a manual that repeats "%s" is read in a time that is proportional to its length',
  async (word) => {
    const text = `The manual of an API.\n\nGET https://pets.test/v1/pets\n\n${word.repeat(20_000 / word.length)}\n`;
    const document = parseDocument(text, "manual", "manual.txt");
    expect(await cpuMsOf(() => readManual(document))).toBeLessThan(2_000);
  },
);
