// Tool files and descriptions of odd shapes, each within the limits of its size.

/** Small enough to be sent by many, and near the limit of values. */
const SIZES = { small: 1_500, large: 30_000 };

/** Pairs of a name and a text. */
export function* toolFiles() {
  for (const [size, count] of Object.entries(SIZES)) {
    for (const [name, make] of Object.entries(SHAPES)) yield [`${size}: ${name}`, make(count)];
  }
}

const repeat = (count, line) => Array.from({ length: count }, (_, at) => line(at)).join("");

function fileOf(types, tools = tool("look"), more = "") {
  const head = `nexus: 1\napi: odd\ntitle: Odd\nversion: 1.0.0\nupstream: { base: "https://odd.example/" }\n`;
  return `${head}${more}types:\n${types}tools:\n${tools}`;
}

function tool(name, { path = "x", more = "" } = {}) {
  return `  ${name}:\n    title: T\n    description: D\n    effect: read\n    input: A\n    request: { method: POST, path: "${path}", body: json }\n    response: { as: json, type: A, text: ok }\n${more}`;
}

const ONE = "  A: { fields: { a: string } }\n";
const fields = (count, line) => `  A:\n    fields:\n${repeat(count, (at) => `      f${at}: ${line(at)}\n`)}`;

const SHAPES = {
  "fields of one type": (count) => fileOf(fields(count, () => "string")),
  "fields at the same place": (count) => fileOf(fields(count, () => "{ type: string, wire: x }")),
  "fields of unknown types": (count) => fileOf(fields(count, (at) => `U${at}`)),
  "types that are not used": (count) => fileOf(ONE + repeat(count, (at) => `  T${at}: { fields: { a: string } }\n`)),
  "types inside each other": (count) =>
    fileOf(
      `${ONE}${repeat(count, (at) => `  T${at}: { fields: { a: T${at + 1} } }\n`)}  T${count}: { fields: { a: A } }\n`,
    ),
  "types that include each other": (count) =>
    fileOf(
      ONE +
        repeat(count, (at) => `  T${at}: { ${at === 0 ? "" : `include: T${at - 1}, `}fields: { f${at}: string } }\n`),
    ),
  "types that include each other twice": (count) =>
    fileOf(
      ONE +
        repeat(
          count,
          (at) =>
            `  T${at}: { ${at === 0 ? "" : `include: [T${at - 1}, T${at - 1}], `}rules: [{ that: "true", say: x }], fields: { a: string } }\n`,
        ),
    ),
  "tools at one address": (count) =>
    fileOf(
      ONE,
      repeat(count / 5, (at) => tool(`t${at}`)),
    ),
  "tools of a wide type": (count) =>
    fileOf(
      fields(count / 2, () => "string"),
      repeat(count / 20, (at) => tool(`t${at}`, { path: `x${at}` })),
    ),
  "rules of unknown names": (count) =>
    fileOf(
      `${fields(count / 2, () => "string")}    rules:\n${repeat(count / 2, (at) => `      - { that: "u${at} == 1", say: no }\n`)}`,
    ),
  "alternatives of a discriminator": (count) => {
    const all = (line) => Array.from({ length: count }, (_, at) => line(at)).join(", ");
    const union = `{ oneOf: [${all((at) => `T${at}`)}], discriminator: { member: k, values: { ${all((at) => `v${at}: T${at}`)} } } }`;
    return fileOf(
      `${repeat(count, (at) => `  T${at}: { fields: { k: string } }\n`)}  A: { fields: { a: ${union} } }\n`,
    );
  },
  "examples like the one before": (count) => {
    const line = (at) => `      - { title: e${at}, ${at === 0 ? "" : `like: e${at - 1}, `}arguments: { b${at}: x } }\n`;
    return fileOf("  A: { additional: any }\n", tool("look", { more: `    examples:\n${repeat(count, line)}` }));
  },
  patterns: (count) => fileOf(fields(count, () => `{ type: string, pattern: "^(a{1,50}|b)*$" }`)),
  "unknown members": (count) =>
    fileOf(
      ONE,
      tool("look"),
      repeat(count, (at) => `k${at}: 1\n`),
    ),
  aliases: (count) => fileOf(`  A: { fields: { a: &f string, ${repeat(count, (at) => `b${at}: *f, `)} } }\n`),
  brackets: (count) => `nexus: ${"[".repeat(90)}${"x,".repeat(count)}${"]".repeat(90)}\n`,
};

/** Descriptions in YAML, up to 3 MB. */
export function* descriptions() {
  yield ["usual YAML", description("")];
  // Only the careful reader reads tags.
  yield ["YAML with a tag", description("x-tag: !!str text\n")];
  const start = "openapi: 3.1.0\ninfo: { title: Odd, version: '1' }\npaths: {}\n";
  const levels = (line) => repeat(12, (at) => line(at));
  const nine = (name) => Array(9).fill(name).join(", ");
  yield [
    "aliases of aliases",
    `${start}l0: &l0 !!str x\n${levels((at) => `l${at + 1}: &l${at + 1} [${nine(`*l${at}`)}]\n`)}`,
  ];
  yield [
    "merges of merges",
    `${start}l0: &l0 { a: 1 }\n${levels((at) => `l${at + 1}: &l${at + 1} { <<: *l${at}, k${at}: [${nine(`*l${at}`)}] }\n`)}`,
  ];
  yield ["brackets that never end", `${start}a: ${"[".repeat(1_000_000)}`];
  yield ["deep maps", start + repeat(1_500, (at) => `${" ".repeat(at)}a:\n`)];
  yield ["tagged values", `${start}a:\n${"- !!str x\n".repeat(2_000_000)}`];
  yield ["many keys", `${start}a:\n${repeat(300_000, (at) => `  k${at}: !!int 1\n`)}`];
}

function description(more) {
  const operation = (at) =>
    `  /things${at}/{id}:\n    post:\n      summary: "Does ${at}: \\"quoted\\""\n      parameters: [{ in: path, name: id, required: true, schema: { type: string } }]\n      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/T${at}' } } } }\n      responses: { '200': { description: OK } }\n      x-request: |\n${repeat(60, (line) => `        curl -d '{ "n": [${line}] }' # ${at}: a line of a long example\n`)}`;
  const schema = (at) =>
    `    T${at}:\n      type: object\n      properties:\n${repeat(25, (field) => `        f${field}:\n          anyOf:\n            - { type: string, enum: [a, 'b', "c d"] }\n            - type: 'null'\n          description: |-\n            Field ${field}. See [the guide](https://large.example/${at}).\n`)}`;
  return `openapi: 3.1.0\ninfo: { title: Large, version: "1" } # one of many\nservers: [{ url: "https://large.example" }]\npaths:\n${repeat(288, operation)}components:\n  schemas:\n${repeat(288, schema)}${more}`;
}
