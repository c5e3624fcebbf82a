import { expect, test } from "vitest";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { readManual } from "../../../src/workshop/documents/manual/read-manual.ts";
import { draftManual, repositoryFile } from "./manual-draft.ts";

/** The same numbers in every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
}

const MANUALS = ["payments.md", "parcels.md", "tracker.md", "weather.md", "library.md"].map((name) =>
  repositoryFile(`test/fixtures/workshop/manuals/${name}`),
);

/** Lines swapped, cut, repeated and mixed with signs that mean something. */
function mutated(text: string, seed: number): string {
  const random = randomFrom(seed);
  const lines = text.split("\n");
  const signs = [
    "|",
    "`",
    "```",
    "#",
    "<a b=",
    '{"a":',
    "[]",
    "0…n",
    "@",
    "\u00a0",
    "POST /{",
    "?=&",
    "see 1.1",
    "1 = a, 2 = b",
    "- `x` (",
    "(((",
  ];
  for (let change = 0; change < 12; change++) {
    const at = random(lines.length);
    const line = lines[at] ?? "";
    const other = lines[random(lines.length)] ?? "";
    const cut = random(line.length + 1);
    const forms = [
      line.slice(0, cut),
      other,
      `${line.slice(0, cut)}${signs[random(signs.length)] ?? ""}${line.slice(cut)}`,
      "",
      line + other,
    ];
    lines[at] = forms[random(forms.length)] ?? "";
  }
  return lines.join("\n");
}

test("a mutated manual is read, or refused with a message; the draft of what is read has no errors", async () => {
  let read = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const text = mutated(MANUALS[seed % MANUALS.length] ?? "", seed);
    try {
      const { draft } = await draftManual(text);
      expect(draft.problems.filter(({ severity }) => severity === "error")).toEqual([]);
      read++;
    } catch (error) {
      expect(error, `seed ${seed}`).toMatchObject({ code: "CONFIG_INVALID" });
    }
  }
  expect(read).toBeGreaterThan(25);
});

test("a manual without a request is refused, and the message says what was looked for", async () => {
  const document = parseDocument("# Our company\n\nWe are nice people.\n", "manual", "manual.md");
  await expect(readManual(document)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("Looked for: a method with an address"),
  });
});

test("a long manual is read in time that grows with its length", async () => {
  const part = (index: number) =>
    `\n## Item ${index}\n\nPOST /items${index}/{id}\n\n| Field | Type | Required | Description |\n|---|---|---|---|\n| name${index} | string | yes | at most ${index + 1} characters |\n| kind | integer | no | 1 = small, 2 = large |\n\n\`\`\`json\n{ "id": ${index}, "name${index}": "x" }\n\`\`\`\n`;
  const long = (count: number) =>
    `# Long\n\nBase URL: https://long.test/api\n${Array.from({ length: count }, (_, index) => part(index)).join("")}`;
  const timeOf = async (count: number) => {
    const document = parseDocument(long(count), "manual", "manual.md");
    const start = performance.now();
    const { operations } = await readManual(document);
    expect(operations.length).toBe(count);
    return performance.now() - start;
  };
  await timeOf(20);
  const short = await timeOf(60);
  const tenfold = await timeOf(600);
  expect(tenfold / Math.max(short, 50)).toBeLessThan(40);
});
