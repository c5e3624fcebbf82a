import { expect, test } from "vitest";
import type { ManualBlock } from "./manual.ts";
import { readText } from "./read-text.ts";

/** Each block on one line, with its lines. */
function shown(text: string): string[] {
  return readText(text).blocks.map((block) => `${block.place.from}-${block.place.to} ${textOf(block)}`);
}

function textOf(block: ManualBlock): string {
  if (block.kind === "heading") return `h${block.level} ${block.text}`;
  if (block.kind === "item") return `${"*".repeat(block.level)} ${block.text}`;
  if (block.kind === "paragraph") return block.text;
  if (block.kind === "code") return `${block.language ?? "code"}@${block.textFrom} ${block.text}`;
  return ["table:", ...[block.head, ...block.rows].map((row) => row.map((cell) => cell.text).join(" | "))].join("\n");
}

test("headings of plain text are underlined, numbered or in capitals", () => {
  const text = `Room Service API
================

Version 2

1. Overview

Two calls.

1.1 Addresses

INTRODUCTION

Words.

1. first step
2. second step

   - deeper
     goes on
Orders ............ 12`;
  expect(shown(text)).toEqual([
    "1-1 h1 Room Service API",
    "4-4 Version 2",
    "6-6 h1 1. Overview",
    "8-8 Two calls.",
    "10-10 h2 1.1 Addresses",
    "12-12 h2 INTRODUCTION",
    "14-14 Words.",
    "16-16 * first step",
    "17-17 * second step",
    "19-20 ** deeper\ngoes on",
  ]);
  expect(readText(text).title).toBe("Room Service API");
});

test("samples of JSON, XML, HTTP and shell commands are found in running text", () => {
  const text = `Send this:
{
  "guest": {"name": "A } B"},

  "nights": [1, 2]
}
The answer:

    <?xml version="1.0"?>
    <result>
      <result>1</result>
    </result>

POST /orders HTTP/1.1
Content-Type: application/json

{"id": 1}

curl -X POST https://api.example/orders \\
  -d '{
  "id": 1 }'
[1] is a note { not JSON.`;
  expect(shown(text)).toEqual([
    "1-1 Send this:",
    '2-6 json@2 {\n  "guest": {"name": "A } B"},\n\n  "nights": [1, 2]\n}',
    "7-7 The answer:",
    '9-12 xml@9 <?xml version="1.0"?>\n<result>\n  <result>1</result>\n</result>',
    '14-17 http@14 POST /orders HTTP/1.1\nContent-Type: application/json\n\n{"id": 1}',
    "19-21 shell@19 curl -X POST https://api.example/orders \\\n  -d '{\n  \"id\": 1 }'",
    "22-22 [1] is a note { not JSON.",
  ]);
});

test("aligned columns are tables, with wrapped cells joined", () => {
  const text = `Fields of the request
Field          Type      Rules
hotel_id       integer   1 to 99999
arrival        date      not in the past; at
                         most two years ahead
reservation_   text      unique
identifier

comment                  free text

The next paragraph is long enough to go over all of the columns.`;
  expect(shown(text)).toEqual([
    "1-1 Fields of the request",
    `2-9 table:
Field | Type | Rules
hotel_id | integer | 1 to 99999
arrival | date | not in the past; at most two years ahead
reservation_identifier | text | unique
comment |  | free text`,
    "11-11 The next paragraph is long enough to go over all of the columns.",
  ]);
});

test("tables are drawn with bars, boxes, tabs and borders", () => {
  const text = `+------+---------+
| Code | Meaning |
+======+=========+
| 1    | new     |
+------+---------+
| 2    | paid by |
|      | card    |
+------+---------+

| Code | Meaning |
| 1 | new |

┌────┬─────┐
│ A  │ B   │
├────┼─────┤
│ 1  │ one │
└────┴─────┘

Code\tMeaning
1\tnew

====  =======
Code  Meaning
====  =======
1     new
====  =======

Name | Type
-----|-----
id   | text

[cols="1,2"]
|===
|Code |Meaning

|1
|new
|===`;
  const small = "table:\nCode | Meaning\n1 | new";
  expect(shown(text)).toEqual([
    `1-8 ${small}\n2 | paid by card`,
    `10-11 ${small}`,
    "13-17 table:\nA | B\n1 | one",
    `19-20 ${small}`,
    `22-26 ${small}`,
    "28-30 table:\nName | Type\nid | text",
    `32-38 ${small}`,
  ]);
});

test("code of reStructuredText and AsciiDoc has its language", () => {
  const text = `Orders
------

.. code-block:: json
   :linenos:

   {"a": 1}

A literal block::

   any text

:param id: The number.

== Chapter

[source,xml]
----
<a/>
----
`;
  expect(shown(text)).toEqual([
    "1-1 h2 Orders",
    '4-7 json@7 {"a": 1}',
    "9-9 A literal block:",
    "11-11 code@11 any text",
    "13-13 * param id: The number.",
    "15-15 h2 Chapter",
    "17-20 xml@19 <a/>",
  ]);
});

test("running heads and page numbers are left out, and a table goes on over pages", () => {
  const page = (number: number, rows: string) =>
    `Guest API 2.0                    Example Inc.\n\nField     Type     Rules\n${rows}\n\nPage ${number} of 3\n`;
  const text = [
    page(1, "id        text     8 characters"),
    page(2, "name      text     never empty"),
    "The end.\n",
  ].join("\f");
  expect(shown(text)).toEqual([
    "3-10 table:\nField | Type | Rules\nid | text | 8 characters\nname | text | never empty",
    "13-13 The end.",
  ]);
});
