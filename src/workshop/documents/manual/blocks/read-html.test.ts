import { expect, test } from "vitest";
import type { ManualBlock } from "./manual.ts";
import { readHtml } from "./read-html.ts";

/** Each block on one line, with its lines. */
function shown(html: string): string[] {
  return readHtml(html).blocks.map((block) => `${block.place.from}-${block.place.to} ${textOf(block)}`);
}

function textOf(block: ManualBlock): string {
  switch (block.kind) {
    case "heading":
      return `h${block.level} ${block.text}`;
    case "item":
      return `${"*".repeat(block.level)} ${block.text}`;
    case "paragraph":
      return block.text;
    case "code":
      return `${block.language ?? "code"}@${block.textFrom} ${block.text}`;
    case "table": {
      const rows = [block.head, ...block.rows].map((row) => row.map(({ text }) => text).join(" | "));
      return `${block.caption ?? "table"}: ${rows.join(" / ")}`;
    }
  }
}

test("HTML becomes blocks with the lines of the page", () => {
  const html = `<!doctype html>
<html><head><title>Shop &amp; more</title><style>p {}</style></head>
<body>
<nav><a href="/">Home</a></nav>
<header><h1>Site</h1></header>
<h2 id="x">Orders <a class="headerlink" href="#x">¶</a></h2>
<p>Prices are in <code>cents</code>,
   not in <b>euro</b>.</p>
Loose text<br>goes&nbsp;on
<ul><li>one<ul><li><p>two</p></li></ul></li><li>three</li></ul>
<pre class="highlight"><code class="language-json">
{
  "a": 1
}
</code></pre>
<script>var x = "<p>no</p>";</script>
<div hidden>secret</div><p style="display: none">no</p>
<footer>Imprint</footer>
</body></html>`;
  expect(shown(html)).toEqual([
    "6-6 h2 Orders",
    "7-8 Prices are in `cents`, not in euro.",
    "9-9 Loose text\ngoes on",
    "10-10 * one",
    "10-10 ** two",
    "10-10 * three",
    '11-15 json@12 {\n  "a": 1\n}',
  ]);
  expect(readHtml(html).title).toBe("Shop & more");
});

test("tables keep their columns with spans, headers in rows, captions and code", () => {
  const html = `<table><caption>Fields</caption>
<thead><tr><th rowspan="2">Name</th><th colspan="2">Rules</th></tr>
<tr><th>Type</th><th>Max</th></tr></thead>
<tbody><tr><td rowspan="2"><code>id</code></td><td>text</td><td>8</td></tr>
<tr><td colspan="2">never <br>empty: <ul><li>a</li><li>b</li></ul></td></tr>
<tr><td>short</td></tr></tbody></table>
<table><tr><th>Method</th><td>GET</td></tr><tr><th>Path</th><td>/pets</td></tr></table>
<table><tr><td>Code</td><td>Meaning</td></tr><tr><td>1</td><td>new</td></tr></table>`;
  expect(shown(html)).toEqual([
    "1-6 Fields: Name | Rules Type | Rules Max / `id` | text | 8 / `id` | never empty: a, b | never empty: a, b / short |  | ",
    "7-7 table:  |  / Method | GET / Path | /pets",
    "8-8 table: Code | Meaning / 1 | new",
  ]);
});

test("tables that arrange a page are read as what they contain, and tables in cells follow their table", () => {
  const html = `<table><tr><td><h2>Left</h2></td><td><p>Right</p></td></tr></table>
<table><tr><th>Field</th><th>About</th></tr>
<tr><td>guest</td><td>an object <table><tr><th>Field</th></tr><tr><td>age</td></tr></table></td></tr>
<tr><td>sample</td><td><pre>{"a":1}</pre></td></tr></table>
<table class="highlighttable"><tr><td class="linenos"><pre>1</pre></td><td class="code"><pre>GET /</pre></td></tr></table>`;
  expect(shown(html)).toEqual([
    "1-1 h2 Left",
    "1-1 Right",
    '2-4 table: Field | About / guest | an object / sample | `{"a":1}`',
    "3-3 guest: Field / age",
    '4-4 code@4 {"a":1}',
    "5-5 code@5 GET /",
  ]);
});

test("definition lists become items, or headings where a term has a chapter", () => {
  const html = `<h2>Calls</h2>
<dl><dt><code>id</code></dt><dd>The number.</dd><dt>state</dt><dd>One of<ul><li>new</li></ul></dd></dl>
<dl class="http get"><dt>GET /pets</dt><dd><p>Lists pets.</p><pre>[]</pre></dd></dl>`;
  expect(shown(html)).toEqual([
    "1-1 h2 Calls",
    "2-2 * `id`: The number.",
    "2-2 * state: One of",
    "2-2 ** new",
    "3-3 h3 GET /pets",
    "3-3 Lists pets.",
    "3-3 code@3 []",
  ]);
});

test("all tabs are read with their labels, and only the main part of a page", () => {
  const long = "Words about the API. ".repeat(12).trim();
  const html = `<body><div class="sidebar">Links</div><p>outside</p><main><header><h1>Pets</h1></header><p>${long}</p>
<div role="tablist"><button role="tab" id="t1">JSON</button></div>
<div role="tabpanel" aria-labelledby="t1" hidden><div class="highlight-xml notranslate"><pre><span>&lt;a/&gt;</span></pre></div></div></main></body>`;
  expect(shown(html)).toEqual(["1-1 h1 Pets", `1-1 ${long}`, "3-3 JSON", "3-3 xml@3 <a/>"]);
});

test("pages that nest too deep or have too many elements are refused", () => {
  expect(() => readHtml("<div>".repeat(10_000))).toThrow(RangeError);
  expect(() => readHtml("<p>".repeat(200_001))).toThrow(RangeError);
});
