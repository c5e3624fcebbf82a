import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadApi, loadApproved } from "../../dist/workshop/index.js";

const folder = (api) => new URL(`../../api/${api}/`, import.meta.url);

/** One call of each example API: XML in both directions, a small JSON answer, and a tool as the import makes it. */
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
  imported: {
    document: fileURLToPath(new URL("stock.openapi.json", import.meta.url)),
    tool: "list_items",
    args: { warehouse: "north", tags: ["tools"] },
    type: "application/json",
    isRight: ({ structuredContent }) => structuredContent.items.length === 5,
  },
};

/** The API of a case, and the texts of its documents. */
export async function openCase(name) {
  const { document } = CASES[name];
  if (document === undefined) return loadApproved(pathOf(name));
  const into = await mkdtemp(join(tmpdir(), "nexus-bench-"));
  try {
    const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
    await promisify(execFile)(process.execPath, [program, "api", "import", document, "--name", name, "--out", into]);
    // Only the person who reviews a file can approve it, so it is not served here, only run.
    return await loadApi(join(into, `${name}.nexus.yaml`));
  } finally {
    await rm(into, { recursive: true });
  }
}

const ITEM = {
  name: "Hammer, 300 g",
  count: 12,
  price: 14.5,
  tags: ["tools", "steel"],
  measures: { width: 120, height: 310, unit: "mm" },
  checkedAt: "2026-05-02T10:00:00Z",
};
const ITEMS = { items: Array.from({ length: 5 }, (_, index) => ({ id: `i-${index}`, ...ITEM })), total: 5, next: null };

/** The tool file of a case that is not imported. */
export function pathOf(name) {
  const { api } = CASES[name];
  return fileURLToPath(new URL(`${api}.nexus.yaml`, folder(api)));
}

/** What the upstream answers: as its manual prints it. */
export async function answerOf(name) {
  const { api, answer, type } = CASES[name];
  if (answer === undefined) return { type, body: Buffer.from(JSON.stringify(ITEMS)) };
  const manual = await readFile(new URL("manual.md", folder(api)), "utf8");
  return { type, body: Buffer.from(answer.exec(manual)[1]) };
}
