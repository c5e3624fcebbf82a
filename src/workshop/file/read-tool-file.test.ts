import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readToolFile } from "./read-tool-file.ts";
import { readYaml } from "./model/read-yaml.ts";
import { examples } from "../../../test/fixtures/depth.ts";

const SMALL = readFileSync("test/fixtures/tool-files/small.nexus.yaml", "utf8");

/** The small file with one line replaced; the problems it has then. */
function problemsAfter(line: string, instead: string): string[] {
  expect(SMALL, "the fixture has the line once").toContain(line);
  return problemsOf(SMALL.replace(line, () => instead));
}

function problemsOf(text: string): string[] {
  return readToolFile(text, "small.nexus.yaml").problems.map(({ line, column, path, message, hint, severity }) => {
    const mark = severity === "warning" ? "warning " : "";
    return `${mark}${line}:${column} ${path}: ${message}${hint ? ` (${hint})` : ""}`;
  });
}

function isMistake(problem: string): boolean {
  return !problem.startsWith("warning");
}

describe("the examples of the package", () => {
  const examples = readdirSync("api").map((api) => `api/${api}/${api}.nexus.yaml`);

  test.each([...examples, "test/fixtures/tool-files/small.nexus.yaml"])("%s has no mistakes", (path) => {
    const { file, problems } = readToolFile(readFileSync(path, "utf8"), path);
    expect(problems).toEqual([]);
    expect(file?.nexus).toBe(1);
  });
});

test("defaults are filled in, and names keep their order", () => {
  const { file } = readToolFile(SMALL, "small.nexus.yaml");
  expect(file).toMatchObject({
    api: "small",
    upstream: { base: "https://api.example/v1/", allow: ["https://api.example/v1/"], timeoutMs: 30_000 },
    secrets: { account: { query: {}, headers: { "X-Key": "key-{shop}" }, public: [] } },
    fake: { tools: { find: { answers: [{ status: 200 }] } } },
  });
  expect(Object.keys(file?.types["Query"]?.fields ?? {})).toEqual(["shop", "size", "tags", "from", "until", "mode"]);
  expect(file?.types["Query"]?.fields["tags"]).toEqual({
    wire: "tags/tag[]",
    shape: { kind: "list", of: { kind: "scalar", type: "string", whitespace: "keep" }, maxItems: 3, keepEmpty: false },
    optional: true,
    hidden: false,
    evidence: ["manual#L3"],
  });
  expect(file?.types["Query"]?.fields["size"]).toMatchObject({ shape: { codes: { 0: "no", 1: "on" } }, default: "no" });
  expect(file?.tools["find"]).toMatchObject({
    unknown: "reject",
    limits: { timeoutMs: 30_000, retries: 2, resultBytes: 2048 },
    request: { query: { shop: { field: "shop", style: "repeat" } } },
  });
});

test("the default wire path of a field", () => {
  const { file } = readToolFile(SMALL, "small.nexus.yaml");
  expect(file?.types["Query"]?.fields["shop"]?.wire, "the query takes it, so the body does not").toBe(false);
  expect(file?.types["Answer"]?.fields["count"]?.wire, "computed").toBe(false);
  expect(file?.types["Answer"]?.fields["currency"]?.wire, "constant").toBe(false);
  expect(file?.types["Answer"]?.fields["notes"]?.wire, "a list in XML").toBe("notes[]");
  expect(file?.types["Query"]?.fields["mode"]?.wire, "sent under its name").toBe("mode");
});

test("one mistake is reported once, without its consequences", () => {
  expect(problemsAfter("from: { type: date,", "from: { type: int, default: 1,").filter(isMistake)).toHaveLength(1);
  expect(problemsOf("a:\n\tb: 1\nc: 2\n\td: 3\ne: 4")).toHaveLength(1);
  expect(problemsOf("openapi: 3.1.0\ninfo: {}\npaths: {}")).toHaveLength(1);
});

describe("every mistake is reported with its place, the problem and a suggestion", () => {
  test.each<[string, string, string]>([
    ["nexus: 1", "nexus: 2", "1:8 nexus: must be 1, the version of this grammar"],
    ["api: small", "api: Small API", '2:6 api: "Small API" cannot be an id (At most 32'],
    ["title: Small", "titel: Small", '3:1 titel: "titel" is not known here (Did you mean "title"?)'],
    ["title: Small", "titel: Small", "1:1 : title is missing"],
    ["title: Small", "title:", "3:7 title: must be text, not nothing"],
    ['version: "1.0"', "version: 1.0", '4:10 version: must be text, not a number (Write it in quotes: "1.0")'],
    ["file: manual.md", "file: ../manual.md", 'documents.manual.file: "../manual.md" is not beside this file'],
    ['sha256: "0000', 'sha256: "zzzz', "documents.manual.sha256: is not a SHA-256"],
    ["base: https://api.example/v1/", "base: https://api.example/v1", "must end with a slash"],
    ["base: https://api.example/v1/", "base: ftp://x/", '"ftp://x/" is not an http or https address'],
    ["base: https://api.example/v1/", "base: https://u:p@api.example/v1/", "must not hold credentials"],
    ["base: https://api.example/v1/", "base: https://api.example/v1/?a=1", "must end before ? and #"],
    ["base: https://api.example/v1/", "base: http://api.example/v1/", "warning 8:9 upstream.base: is not encrypted"],
    [
      "base: https://api.example/v1/",
      "base: https://api.example/v1/\n  allow: [https://api.example/v10/]",
      "upstream.allow: does not allow the base address itself (Add https://api.example/v1/)",
    ],
    [
      "base: https://api.example/v1/",
      "base: https://api.example/v1/\n  timeout: soon",
      "must be a time of at most ten",
    ],
    ["account: { headers: { X-Key:", "account: { headers: { X Key:", '"X Key" cannot be the name of a header'],
    ["account: { headers: { X-Key:", "account: { headers: { Host:", "Host is set by itself"],
    ['"key-{shop}"', '"key {shop}"', '"key {shop}" is not a valid name of a secret'],
    ['"key-{shop}" }', '"key-{shop}" }, public: [user]', 'no secret of this set is called "user"'],
    ['"key-{shop}"', '"key-{shoop}"', 'there is no field of the input "shoop" (Did you mean "shop"?)'],
    ["account: {", "unused: { bearer: x }\n  account: {", "no request uses these secrets"],
    ["  Query:", "  integer:", '"integer" is the name of a type of values'],
    ["      until:", "      un-til:", '"un-til" cannot be the name of a field'],
    ["      until:", "      not:", '"not" has a meaning of its own in expressions'],
    ["from: { type: date,", "from: { type: dat,", 'there is no type "dat" (Did you mean "date"?)'],
    ["from: { type: date,", "from: {", "does not say what it is (Give type, list, map, oneOf, codes, const or value.)"],
    [
      "from: { type: date,",
      'from: { type: string, pattern: "^([a-z]+)*$",',
      "pattern: can take exponential time in programs",
    ],
    ["from: { type: date,", String.raw`from: { type: string, pattern: '^(?:\d+){2,}x',`, "warning"],
    ["from: { type: date,", String.raw`from: { type: string, pattern: '^(\w+\s?)*$',`, "warning"],
    [
      "from: { type: date,",
      String.raw`from: { type: string, pattern: '^(a)\1$',`,
      String.raw`pattern: refers back to a group with \1`,
    ],
    ["from: { type: date,", "from: { type: string, pattern: '^(a{1,200}){1,200}$',", "pattern: is too large"],
    ["from: { type: date,", "from: { type: date, maxLength: 3,", "maxLength says nothing about a date"],
    [
      "from: { type: date,",
      "from: { type: date, optinal: true,",
      '"optinal" is not known here (Did you mean "optional"?)',
    ],
    ["from: { type: date,", "from: { type: date, required: false,", "(Fields are required; write optional: true"],
    [
      "from: { type: date,",
      "from: { type: string, format: date,",
      "a format is not checked (Write type: date instead.)",
    ],
    ["from: { type: date,", "from: { type: int, default: 1,", 'there is no type "int" (Write integer.)'],
    [
      "from: { type: date,",
      "from: { type: array, items: date,",
      '"items" is not known here (Write list: with the type',
    ],
    ["from: { type: date,", "from: { type: array, items: date,", 'there is no type "array" (Write list: with the type'],
    ["from: { type: date,", "from: { type: date, optional: no,", "must be true or false, not text"],
    ["from: { type: date,", "from: { type: date, default: tomorrow,", "must be a date like 2025-12-17"],
    ["from: { type: date,", "from: { type: date, const: 1,", 'const: must be text (Write it in quotes: "1")'],
    ["from: { type: date,", "from: { type: date, minItems: 3,", "minItems says something about lists only"],
    ["codes: { 0: no, 1: on }", "codes: { 0: true, 1: on }", 'must be text, not true (Write it in quotes: "true")'],
    ["codes: { 0: no, 1: on }", "codes: { 0: no, 1: no }", '"no" is already the name of 0: which of 0 and 1 is sent?'],
    ["default: no", "default: non", 'must be no or on (Did you mean "no"?)'],
    ["list: string, maxItems: 3", "list: string, minItems: 4, maxItems: 3", "is more than maxItems, so nothing fits"],
    ["list: string, maxItems: 3", "list: string, maxLength: 3", "maxLength belongs to the items of the list"],
    ["list: string, maxItems: 3", "list: { type: strin }, maxItems: 3", 'there is no type "strin"'],
    ["list: string, maxItems: 3", "list: string, maxItems: -1", "must be a whole number, 0 or more"],
    ["list: string, maxItems: 3", "list: { pattern: '(' , type: string }", "is not a regular expression"],
    ['wire: "tags/tag[]"', 'wire: "tags/tag"', "says not which element repeats (Write [] behind it"],
    ['wire: "tags/tag[]"', 'wire: "tags[]/tag[]"', "column 11: only one step of a path can repeat"],
    ['wire: "tags/tag[]"', 'wire: "tags//tag[]"', "column 6: the name of an element or @attribute is missing"],
    ['wire: "tags/tag[]"', 'wire: "a:tag[]"', 'the prefix "a" is not in namespaces'],
    ['wire: "tags/tag[]"', 'wire: "mode[]"', ""],
    ['wire: "@until"', "wire: from", '"from" is already the place of from'],
    ['wire: "@until"', 'wire: "until[]"', "repeats, but the field is not a list"],
    ["evidence: manual#L5 }", "evidence: manual }", '"manual" names no part of a document'],
    ["evidence: manual#L5 }", "evidence: manul#L5 }", 'there is no document "manul" (Did you mean "manual"?)'],
    ["evidence: manual#L5 }", "evidence: manual#L5-L4 }", '"manual#L5-L4" ends before it begins'],
    ["evidence: manual#L5 }", "}", "warning 26:9 types.Query.rules[0]: has no evidence"],
    [
      "that: until > from",
      "that: util > from",
      'types.Query.rules[0].that: there is no "util" here (Did you mean "until"?)',
    ],
    ["that: until > from", "that: until >", "column 8: a value is missing before the end"],
    ["that: until > from", "that: until > now()", ""],
    ["that: until > from", "that: size != 'off'", '"off" is never equal to it (It can be no or on.)'],
    ["that: until > from", "that: count(from) > 1", "count() needs a list"],
    ["that: until > from", "that: tags.length > 1", 'the list has no "length", its items have'],
    ["xml: { element: query }", "xml: {}", "xml.element is missing"],
    ["xml: { element: query }", "xml: { element: a b }", '"a b" cannot be the name of an element'],
    [
      "value: count(notes)",
      "value: input.shop < 9 and input.shop + 1",
      'gives true or false, not a number: the field would always be empty ("and", "or" and comparisons give true or false.',
    ],
    ["value: count(notes)", 'value: "if(input.shop < 9, input.shop + 1)"', ""],
    ["value: count(notes)", "value: join(notes)", "gives text, not a number"],
    ["types:\n", "settings: { shop: { maxLength: 3, example: Acme } }\ntypes:\n", "must have at most 3 characters"],
    ["types:\n", "settings: { shop: { maxLength: 3 } }\ntypes:\n", "has neither default nor example"],
    ["types:\n", "settings: { shop-id: { default: A } }\ntypes:\n", '"shop-id" cannot be the name of a setting'],
    ["types:\n", "settings: { shop: { default: A, type: text } }\ntypes:\n", '"type" is not known here'],
    ["that: until > from", 'that: "days(from, until)"', "gives a number, not true or false: it would never refuse"],
    ["that: until > from", 'that: from >= today("Europe/Vienna")', ""],
    ["that: until > from", 'that: from >= today("Europe/Wien")', 'there is no time zone "Europe/Wien" (Write one of'],
    ["that: until > from", "that: from >= today(mode)", "today() takes the name of a time zone"],
    ["that: until > from", "that: request_key() == mode", "request_key() is not available here"],
    ["value: count(notes)", "value: count(note)", 'there is no "note" here (Did you mean "notes"?)'],
    ["value: count(notes)", "value: input.form", 'there is no "form" in it (Did you mean "from"?)'],
    ["  find:\n    title", "  Find:\n    title", '"Find" cannot be the name of a tool (Write find. Small letters'],
    ["  find:\n    title", "  findShops-2:\n    title", "(Write find_shops_2. Small letters"],
    ["effect: read", "effect: reed", 'must be read, write or destructive, not "reed" (Did you mean "read"?)'],
    ["effect: read", "effect: write", "warning 39:3 tools.find: outcomeUnknown is missing"],
    [
      "method: POST",
      "method: DELETE",
      "warning 42:13 tools.find.effect: DELETE changes something, but the effect is read",
    ],
    [
      "method: POST",
      "method: post",
      'must be GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS or QUERY, not "post" (Did you mean "POST"?)',
    ],
    ["method: POST", "method: HEAD", "tools.find.request.body: HEAD has no body"],
    [
      "method: POST",
      "base: https://other.example/, method: POST",
      "base: is not within upstream.allow (Add https://other.example/ there.)",
    ],
    ["method: POST", 'accept: "a\\nb", method: POST', "is not a list of media types"],
    ["method: POST", "contentType: json, method: POST", '"json" is not a media type like application/json'],
    ["method: POST", "parts: { name: { style: deep } }, method: POST", "is for the bodies form and multipart"],
    ["query: { shop: shop }", "query: { shop: { field: shop, const: a } }", "must have one of field, const and value"],
    ["query: { shop: shop }", "query: { shop: { value: nothing } }", "query.shop.value"],
    [
      "query: { shop: shop }",
      'query: { shop: shop }, cookies: { "a b": shop }',
      '"a b" cannot be the name of a cookie',
    ],
    [
      "query: { shop: shop }",
      "query: { shop: { field: tags, style: pairs } }",
      '"tags" does not fit into a query in the style pairs',
    ],
    [
      "query: { shop: shop }",
      "query: { shop: shop }, headers: { X-A: { field: tags, style: pipe } }",
      "must be comma, members, pairs or json",
    ],
    ["path: things", "path: /things", "begins at the base address"],
    ["path: things", "path: things?a=1", "must end before ? and #"],
    ["path: things", "path: a/../b", "dots as steps"],
    ["path: things", 'path: "things/{tags}"', '"tags" is optional, but there is no address without it'],
    ["path: things", 'path: "things/{+tags}"', "has braces that name no field"],
    ["path: things", 'path: "things/{until}"', '"until" is optional, but there is no address without it'],
    ["path: things", 'path: "things/{shoop}"', 'there is no field of the input "shoop"'],
    [
      "query: { shop: shop }",
      "query: { shop: shopp }",
      'there is no field of the input "shopp" (Did you mean "shop"?)',
    ],
    ["query: { shop: shop }", "query: { shop: shop }, headers: { x-key: shop }", '"x-key" already carries a secret'],
    [
      "query: { shop: shop }",
      "query: { shop: shop }, headers: { Authorization: shop }",
      "Authorization carries a secret",
    ],
    ["secrets: account,", "secrets: acount,", 'there is no set of secrets "acount" (Did you mean "account"?)'],
    [
      "secrets: account, body: xml }",
      "secrets: account }",
      "types.Query.fields.size: find has no body, so this field is sent nowhere",
    ],
    ["input: Query", "input: Qery", 'there is no type "Qery" (Did you mean "Query"?)'],
    ["as: xml, type: Answer", "as: xml", "type is missing (An xml answer is read by a type.)"],
    ["as: xml, type: Answer", "as: none, type: Answer", "an answer that is read as none has no type"],
    ['text: "Found {count}."', 'text: "Found {cuont}."', 'there is no "cuont" here (Did you mean "count"?)'],
    ['text: "Found {count}."', 'text: "Found {count."', "The { at column 7 is not closed"],
    ["status: 404,", "status: 4040,", "4040 is not an HTTP status"],
    ["status: 404,", "", "does not say when (Give status, that, or both.)"],
    ["result: 2kB", "result: 2", "must be a size from 256 bytes to 1MB"],
    ["result: 2kB", "result: 2kB, retries: 9", "must be 5 or less"],
    ["{ shop: a, size:", "{ shop: a, sise:", 'there is no field "sise" (Did you mean "size"?)'],
    ["expect: { text: Found }", "expect: {}", "expects nothing"],
    [
      "expect: { text: Found }",
      "expect: { text: Found }\n        fake: { cut: true, broken: true }",
      "must say one way to fail",
    ],
    ["  secrets: { key-a: x }", "  secrets: { kay-a: x }", 'no secret is called "kay-a"'],
    ["  secrets: { key-a: x }", "  secrets: { key-a: 12 }", 'must be text, not a number (Write it in quotes: "12")'],
    ["each: things", "each: thing", 'there is no "thing" here (Did you mean "things"?)'],
    ["when: thing.shop == input.shop", "when: thing.shop == input.shopp", 'there is no "shopp" in it'],
    ['text: "= thing.text"', 'txet: "= thing.text"', 'there is no field "txet" (Did you mean "text"?)'],
    ['text: "= thing.text"', 'text: "= request_key()"', "request_key() is not available here"],
  ])("%j → %j", (line, instead, expected) => {
    const problems = problemsAfter(line, instead);
    if (expected === "") expect(problems).toEqual([]);
    else expect(problems.join("\n")).toContain(expected);
  });

  test("all mistakes are reported at once, in the order of the file", () => {
    const broken = SMALL.replace("title: Small", "titel: Small")
      .replace("effect: read", "effect: reed")
      .replace("that: until > from", "that: util > from")
      .replace('text: "= thing.text"', 'txet: "= thing.text"');
    const { file, problems } = readToolFile(broken, "small.nexus.yaml");
    expect(file).toBeUndefined();
    expect(problems.map(({ line }) => line)).toEqual([1, 3, 26, 42, 68]);
  });
});

describe("a JSON API", () => {
  const museum = readFileSync("api/museum/museum.nexus.yaml", "utf8");

  test.each<[string, string, string]>([
    ["wire: page.next", "wire: page..next", '"page..next" is not a path of names with dots'],
    ["wire: page.next", 'wire: "page[0]"', '"page[0]" is not a path of names with dots'],
    ["wire: page.next", 'wire: "page[]"', "repeats, but the field is not a list"],
    ["wire: page.next", "wire: page/next", "looks like a path of XML, but is one member of JSON"],
    ["wire: page.next", "wire: page.number", '"page.number" is already the place of nextPage'],
    ["wire: page.next", 'wire: "@next"', ""],
    ["{ list: Exhibition,", '{ wire: "data[].shows[]", list: Exhibition,', "only one step of a path can repeat"],
    ["{ list: Exhibition,", '{ wire: ".", list: Exhibition,', ""],
    ["value: open != null", "value: now() != null", "now() is not available here"],
    ["value: open != null", "value: status == 200", ""],
    ["      nextPage:", "      deviations:", "is where results say what was not as documented (Call it otherwise"],
    ["      nextPage:", "      status:", "in errors and texts, status is the status of HTTP and not this field"],
    ["      nextPage:", "      input:", "in errors and texts, input is the input and not this field"],
    ["response: { as: none,", "response: { as: text,", ""],
    ['"Order {input.orderId} is cancelled."', '"{text}"', 'there is no "text" here'],
    [
      "headers: { Idempotency-Key: orderKey }",
      "headers: { Idempotency-Key: contact }",
      '"contact" does not fit into a header',
    ],
    ["museum: { field: museums, style: comma }", "museum: { field: museums, style: coma }", 'Did you mean "comma"?'],
  ])("%j → %j", (line, instead, expected) => {
    expect(museum).toContain(line);
    const problems = problemsOf(museum.replace(line, () => instead)).join("\n");
    if (expected === "") expect(problems).toBe("");
    else expect(problems).toContain(expected);
  });

  test("the argument that asks for the raw answer cannot be a field", () => {
    const asking = museum
      .replace(/(find_exhibitions:[^]*?response: \{)/, "$1 sourcePayload: true,")
      .replace(/(ExhibitionQuery:[^]*?fields:\n)/, "$1      includeSourcePayload: { type: string, optional: true }\n");
    expect(problemsOf(asking).join("\n")).toContain("is the argument that asks for the answer as it came");
  });

  test("an input that two tools send differently is noticed", () => {
    const [, order = ""] = /\n( {2}order_tickets:[^]*?)\n {2}cancel_order:/.exec(museum) ?? [];
    const second = order.replace("order_tickets", "order_more").replace("museums/{museumId}/orders", "orders");
    const problems = problemsOf(museum.replace(order, () => `${order}\n${second}`)).join("\n");
    expect(problems).toContain('"museumId" is not sent: another tool with this input has it outside of the body');
  });
});

describe("recursive types", () => {
  const answer = "      notes: { list: Note, evidence: manual#L9 }";

  test("are allowed through a list or an optional field", () => {
    expect(
      problemsAfter(answer, `${answer}\n      next: { type: Answer, optional: true, evidence: manual#L9 }`),
    ).toEqual([]);
    expect(problemsAfter(answer, `${answer}\n      more: { list: Answer, evidence: manual#L9 }`)).toEqual([]);
  });

  test("are refused if they must contain themselves", () => {
    const problems = problemsAfter(answer, `${answer}\n      next: { type: Answer, evidence: manual#L9 }`);
    expect(problems.join()).toContain("a Answer would have to hold another Answer, without end");
  });

  test("many types that contain each other are read quickly", () => {
    const types = Array.from({ length: 40 }, (_, index) => {
      const next = `{ type: T${index + 1} }`;
      return `  T${index}: { fields: { a: ${next}, b: ${next}, c: { list: T${(index + 7) % 40} } } }`;
    });
    const problems = problemsAfter(
      "types:\n",
      `types:\n${types.join("\n")}\n  T40: { fields: { n: { type: Note } } }\n`,
    );
    expect(problems.every((problem) => problem.includes("warning"))).toBe(true);
  });
});

describe("mistakes of YAML itself", () => {
  test("a repeated name is reported with its first place", () => {
    expect(problemsAfter("title: Small", "title: Small\ntitle: Again").join()).toContain(
      '4:1 : "title" is here twice; the first is in line 3',
    );
  });

  test("a number that a double cannot hold is reported wherever it would be sent; limits may be as large as needed", () => {
    const number = "9007199254740993";
    const { tree, problems } = readYaml(
      `const: ${number}\nlist: [1, ${number}]\nmaximum: ${number}\ntext: "${number}"`,
    );
    expect(tree?.kind).toBe("object");
    expect(problems.map(({ line, message, hint }) => `${line} ${message}. ${hint}`)).toEqual(
      [1, 2].map(
        (line) => `${line} ${number} has too many digits to be an exact number. As text it is exact: "${number}"`,
      ),
    );
  });

  test("no and on are strings, and numbers can be names", () => {
    const { file } = readToolFile(SMALL, "");
    expect(file?.types["Query"]?.fields["size"]).toMatchObject({ shape: { codes: { 0: "no", 1: "on" } } });
  });

  test.each<[string, string]>([
    ["a: [1", "not valid YAML"],
    ["a:\n\t- b", "not valid YAML"],
    ["a: 1\n---\nb: 2", "not valid YAML"],
    ["nexus: !!str 1", "tags are not supported: !!str"],
    ["nexus: !thing 1", "tags are not supported: !thing"],
    ["a: &x { b: 1 }\nc: { <<: *x }", "merged maps (<<) are not supported"],
    ["? [a]\n: b", "a key must be a word or a number"],
    [
      "{ wire: tags/tag[], type: string }",
      "1:17 : not valid YAML: Unexpected flow-seq-start at node end (Inside { } and [ ], write text",
    ],
    ["a: { path: shops/{id} }", "Unexpected flow-map-start at node end (Inside { } and [ ], write text"],
    ["a:\n  b: { c: 1\n  d: 2", "(A bracket that was opened above is not closed.)"],
    ["a:\n  b: 1\n c: 2", "(What belongs together begins in the same column"],
    ["a: Look: a colon", "(Text with a colon and a space in it needs quotes.)"],
    [
      "openapi: 3.1.0\ninfo: {}",
      "1:1 : small.nexus.yaml is an OpenAPI description, not a tool file (A tool file is written",
    ],
    ["a: &a [*a]", "the alias *a is part of its own anchor"],
    ["a: *nobody", "no anchor &nobody is set before this alias"],
    ["- a", "small.nexus.yaml is not a tool file"],
    ["", "small.nexus.yaml is not a tool file"],
    ["# nothing", "small.nexus.yaml is not a tool file"],
    ["text", "small.nexus.yaml is not a tool file"],
    [`a: ${"[".repeat(100_000)}`, "cannot be read as YAML"],
    [`a: ${"[".repeat(200)}${"]".repeat(200)}`, "nested too deeply"],
    [`a: ${"x".repeat(16 * 1024 * 1024)}`, "the file is larger than 16 MB"],
  ])("%#", (text, expected) => {
    expect(problemsOf(text).join("\n")).toContain(expected);
  });

  test("aliases are read, but a few lines cannot expand to millions of values", () => {
    const bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 9; level++) {
      bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    }
    expect(problemsOf(bomb.join("\n")).join()).toContain("too many values");
    expect(problemsAfter("{ shop: a, size: on }", "&one { shop: a, size: on }").join()).toBe("");
  });

  test("members named like those of every object are normal names", () => {
    const problems = problemsAfter("input: Query", "input: constructor").join();
    expect(problems).toContain('there is no type "constructor"');
    expect(problemsAfter("effect: read", "effect: read\n    __proto__: { a: 1 }").join()).toContain(
      '"__proto__" is not known here',
    );
    expect(problemsAfter("codes: { 0: no, 1: on }", "codes: { __proto__: no, 1: on }")).toEqual([]);
  });
});

test("any file is read, or refused with places", () => {
  const lines = SMALL.split("\n");
  const words = [
    "[]",
    "{}",
    "null",
    "1",
    "true",
    "''",
    "- a",
    "a: b",
    "[a, {b: c}]",
    "= x",
    "{x}",
    "&a b",
    "*a",
    "__proto__",
  ];
  const change = fc.record({
    line: fc.nat(lines.length - 1),
    kind: fc.constantFrom("remove", "value", "twice"),
    word: fc.constantFrom(...words),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const text = lines.flatMap((line, index) => {
        const found = changes.find((candidate) => candidate.line === index);
        if (!found) return [line];
        if (found.kind === "remove") return [];
        return found.kind === "twice" ? [line, line] : [line.replace(/(?<=: )[^{}[\]]+?(?=,| }|$)/, () => found.word)];
      });
      const { file, problems } = readToolFile(text.join("\n"), "x");
      const hasErrors = problems.some(({ severity }) => severity === "error");
      expect(file === undefined).toBe(hasErrors);
      for (const { line, column, message } of problems) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeGreaterThan(0);
        expect(message).not.toMatch(/undefined|\[object|NaN/);
      }
    }),
    { numRuns: examples(150) },
  );
});
