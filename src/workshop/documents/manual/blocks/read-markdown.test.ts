import { describe, expect, test } from "vitest";
import { readMarkdown } from "./read-markdown.ts";

test("Markdown becomes headings, paragraphs, items, tables and code with their lines", () => {
  const text = [
    "# Shop *API*",
    "",
    "Prices are in `cents`.",
    "Ask **first**.",
    "",
    "- one",
    "  - two",
    "",
    "| Field | Rules |",
    "|---|---|",
    "| `id` | a \\| b<br>c |",
    "| short |",
    "",
    "```json",
    '{"id": 1}',
    "```",
    "",
    "    indented",
  ].join("\n");
  const at = (from: number, to = from) => ({ from, to });
  expect(readMarkdown(text)).toEqual({
    title: "Shop API",
    blocks: [
      { kind: "heading", level: 1, text: "Shop API", place: at(1) },
      { kind: "paragraph", text: "Prices are in `cents`.\nAsk first.", place: at(3, 4) },
      { kind: "item", level: 1, text: "one", place: at(6) },
      { kind: "item", level: 2, text: "two", place: at(7) },
      {
        kind: "table",
        head: [
          { text: "Field", place: at(9) },
          { text: "Rules", place: at(9) },
        ],
        rows: [
          [
            { text: "`id`", place: at(11) },
            { text: "a | b c", place: at(11) },
          ],
          [
            { text: "short", place: at(12) },
            { text: "", place: at(12) },
          ],
        ],
        place: at(9, 12),
      },
      { kind: "code", language: "json", text: '{"id": 1}', textFrom: 15, place: at(14, 16) },
      { kind: "code", text: "indented", textFrom: 18, place: at(18) },
    ],
  });
});

test("Front matter gives the title and keeps the numbers of the lines", () => {
  const { title, blocks } = readMarkdown('---\ntitle: "Orders"\nsidebar: x\n---\n# List\n');
  expect(title).toBe("Orders");
  expect(blocks).toEqual([{ kind: "heading", level: 1, text: "List", place: { from: 5, to: 5 } }]);
});

test("a long text is read in parts, and its lines keep their numbers", () => {
  const chapter = (number: number) =>
    `# Chapter ${number}\n\n\`\`\`\n# not a heading\n\`\`\`\n\n${"Words of it. ".repeat(1_000)}\n\n`;
  const { blocks } = readMarkdown(Array.from({ length: 10 }, (_, index) => chapter(index)).join(""));
  const headings = blocks.filter(({ kind }) => kind === "heading");
  expect(headings.map(({ place }) => place.from)).toEqual(Array.from({ length: 10 }, (_, index) => index * 8 + 1));
});

describe("a table of a long manual is read as in a short one", () => {
  const HEAD = "| Name | Type |\n|---|:-:|\n";
  const pad = ["```", ...Array.from({ length: 400 }, () => "x".repeat(99)), "```", "", ""].join("\n");

  test.for([
    `${HEAD}| id | string |\n| snake_case_name | \`a\` or \` b \` |\n`,
    `${HEAD}| few |\n| id | string | more |\n|  | |\n`,
    `${HEAD}| *a* | [b](c) |\n| a\\|b | x &amp; y |\n`,
    `${HEAD}| _a_ | <br> \`\`b\`\` |\n`,
    `| Name |\n|---|---|\n| a | b |\n`,
    `${HEAD}| a | b |\nno table any more\n`,
    `- item\n\n${HEAD}| a | b |\n\n  text\n`,
    `\`\`\`\n\n${HEAD}| a | b |\n\n\`\`\`\n`,
    `<pre>\n\n${HEAD}| a | b |\n\n</pre>\n`,
    `words\n${HEAD}| a | b |\n`,
  ])("%j", (text) => {
    const short = readMarkdown(`# A\n\n${text}\n# B\n`).blocks;
    const long = readMarkdown(`# A\n\n${text}\n# B\n\n${pad}`).blocks;
    expect(long.slice(0, short.length)).toEqual(short);
  });

  test("lines are counted behind tables", () => {
    const { blocks } = readMarkdown(`${pad}${HEAD}| a | b |\n\n## End\n`);
    const [table, heading] = blocks.slice(-2);
    expect([table?.place, heading?.place]).toEqual([
      { from: 404, to: 406 },
      { from: 408, to: 408 },
    ]);
  });
});

test("1 MB of tables is read within the time that the reader of a manual has", () => {
  const rows = Array.from({ length: 60 }, (_, row) => `| field_${row} | string | no | At most 40 characters of it. |`);
  const table = ["| Name | Type | Required | Description |", "|---|---|---|---|", ...rows].join("\n");
  const text = Array.from({ length: 300 }, (_, at) => `## Call ${at}\n\n\`POST /call${at}\`\n\n${table}\n\n`).join("");
  const start = process.cpuUsage();
  expect(readMarkdown(text).blocks).toHaveLength(900);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1_000).toBeLessThan(3_000);
});
