import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const folder = (api) => new URL(`../../api/${api}/`, import.meta.url);

/** One call of each example API: XML in both directions, and a small JSON answer. */
export const CASES = {
  xml: {
    api: "capcorn",
    tool: "availability_search",
    args: {
      language: "german",
      hotelIds: [9100],
      arrival: "2025-12-17",
      departure: "2025-12-20",
      rooms: [{ adults: 2, childAges: [3] }, { adults: 2 }],
    },
    type: "application/xml; charset=utf-8",
    // The second document that its manual prints.
    answer: /^```xml\n[^]*?^```$[^]*?^```xml\n([^]*?)^```$/m,
    isRight: ({ structuredContent }) => structuredContent.count === 4,
  },
  json: {
    api: "museum",
    tool: "find_exhibitions",
    args: { on: "2026-05-02", tags: ["salt"] },
    type: "application/json",
    answer: /^```json\n([^]*?)^```$/m,
    isRight: ({ structuredContent }) => structuredContent.exhibitions.length === 1,
  },
};

export const pathOf = (name) => {
  const { api } = CASES[name];
  return fileURLToPath(new URL(`${api}.nexus.yaml`, folder(api)));
};

/** What the upstream answers: as its manual prints it. */
export async function answerOf(name) {
  const { api, answer, type } = CASES[name];
  const manual = await readFile(new URL("manual.md", folder(api)), "utf8");
  return { type, body: Buffer.from(answer.exec(manual)[1]) };
}
