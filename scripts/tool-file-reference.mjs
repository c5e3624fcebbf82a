// Writes schemas/tool-file.schema.json and the second half of docs/reference/tool-file.md from the forms of the tool file;
// `--check` fails where one differs.
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { loadSources } from "./forms.mjs";

const FORMS = "src/workshop/file/forms/tool-file.ts";
const REFERENCE = "docs/reference/tool-file.md";
const SCHEMA = "schemas/tool-file.schema.json";
const MARK = `<!-- From here on generated from ${FORMS} by scripts/tool-file-reference.mjs; do not edit. -->`;

const { TOOL_FILE, jsonSchema } = await loadSources([FORMS, "src/format/json-schema.ts"]);
const schema = plain({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:nexus-mcp:tool-file:1",
  $comment: `Generated from ${FORMS} by scripts/tool-file-reference.mjs; do not edit.`,
  title: "Nexus tool file",
  ...jsonSchema(TOOL_FILE),
});
const before = readFileSync(REFERENCE, "utf8");
const written = before.split(/<!-- From here on generated/)[0].trimEnd();
const text = `${[written, MARK, ...sections()].join("\n\n")}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
  writeFileSync(REFERENCE, text);
} else {
  const differing = [
    ...(isDeepStrictEqual(JSON.parse(readFileSync(SCHEMA, "utf8")), schema) ? [] : [SCHEMA]),
    ...(before === text ? [] : [REFERENCE]),
  ];
  for (const file of differing) console.error(`${file} is not what the forms say. Run: npm run reference`);
  if (differing.length > 0) process.exit(1);
}

/** As it is in a file: members that are undefined are absent. */
function plain(value) {
  return JSON.parse(JSON.stringify(value));
}

/** One for each kind of map; single values are described where they are used. */
function sections() {
  const kinds = Object.entries(schema.$defs).filter(([, definition]) => definition.properties);
  return [section("The file", schema), ...kinds.map(([name, definition]) => section(name, definition))];
}

function section(name, definition) {
  const rows = Object.entries(definition.properties).flatMap(([key, member]) => row(key, member, definition, ""));
  const example = definition.examples?.[0];
  const head = name === "The file" ? `## ${name}` : `### ${name}`;
  return [
    head,
    definition.description,
    ["| member | what it is | of kind |", "|---|---|---|", ...rows].join("\n"),
    ...(example === undefined ? [] : [`Example: \`${inYaml(example)}\``]),
  ].join("\n\n");
}

/** A map inside of a map that has no name of its own follows with its members. */
function row(key, member, { required = [] }, prefix) {
  const target = resolved(member);
  const must = required.includes(key) ? " **Required.**" : "";
  const usual = member.default === undefined ? "" : ` Default: \`${inYaml(member.default)}\`.`;
  const example = (member.examples ?? target.examples)?.[0];
  const shown = example === undefined || target.properties ? "" : ` Example: \`${inYaml(example)}\``;
  const description = `${member.description ?? target.description ?? ""}${must}${usual}${shown}`;
  const line = `| \`${prefix}${key}\` | ${escaped(description)} | ${escaped(kindOf(member))} |`;
  const { map, path } = innerMap(member, `${prefix}${key}`);
  return [line, ...(map ? Object.entries(map.properties).flatMap(([name, inner]) => row(name, inner, map, path)) : [])];
}

function innerMap(member, path) {
  if (member.properties) return { map: member, path: `${path}.` };
  if (member.items?.properties) return { map: member.items, path: `${path}[].` };
  return {};
}

function kindOf(member) {
  if (member.$ref) {
    const name = nameOf(member);
    return resolved(member).properties ? `[${name}](#${name.toLowerCase()})` : kindOf(resolved(member));
  }
  if (member.const !== undefined) return `\`${inYaml(member.const)}\``;
  if (member.enum) return member.enum.map((value) => `\`${value}\``).join(", ");
  if (member.anyOf) return [...new Set(member.anyOf.map(kindOf))].join(" or ");
  if (Array.isArray(member.type)) return member.type.map(word).join(", ");
  if (member.type === "array") return `list of ${kindOf(member.items)}`;
  if (member.type === "object" && !member.properties) {
    const inner = kindOf(member.additionalProperties ?? {});
    return inner === "anything" ? "map" : `map of ${inner}`;
  }
  return word(member.type);
}

function word(type) {
  return (
    { string: "text", integer: "whole number", number: "number", boolean: "`true`, `false`", object: "map" }[type] ??
    "anything"
  );
}

function resolved(member) {
  return member.$ref ? schema.$defs[nameOf(member)] : member;
}

function nameOf({ $ref }) {
  return $ref.split("/").at(-1);
}

/** Short values on one line, as one writes them. */
function inYaml(value) {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([key, member]) => `${key}: ${inYaml(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  return String(value);
}

function escaped(text) {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
