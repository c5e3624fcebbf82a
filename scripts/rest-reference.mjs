// Writes docs/reference/rest-api.md from the OpenAPI document of the REST API; `--check` fails where the file differs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const REFERENCE = "docs/reference/rest-api.md";
const NEEDS = {
  public: "anyone",
  caller: "any key",
  operator: "operator",
  admin: "admin",
  "all-tenants": "admin of all tenants",
};

const document = await load();
const text = render();
if (!process.argv.includes("--check")) {
  writeFileSync(REFERENCE, text);
} else if (!existsSync(REFERENCE) || readFileSync(REFERENCE, "utf8") !== text) {
  console.error(`${REFERENCE} is not what the REST API says. Run: node scripts/rest-reference.mjs`);
  process.exit(1);
}

/** The sources are bundled, because Node does not run all TypeScript. */
async function load() {
  const build = await rolldown({
    input: "src/rest/openapi.ts",
    platform: "node",
    external: ["libsql", "pg-native", "cloudflare:sockets"],
    logLevel: "warn",
  });
  mkdirSync("build", { recursive: true });
  const file = resolve("build/openapi.mjs");
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  const { openApiDocument } = await import(pathToFileURL(file).href);
  return openApiDocument();
}

function render() {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
  const tags = [...new Set(operations.flatMap(({ tags: [tag] }) => tag))];
  return `${[
    "# REST API reference",
    "Generated from the OpenAPI document of the gateway (`/api/v1/openapi.json`) by `scripts/rest-reference.mjs`; do not edit. [The guide](../guide/rest-api.md) shows how it is used.",
    "All paths are below `/api/v1`. A `?` marks members that may be missing.",
    ...tags.flatMap((tag) => [`## ${title(tag)}`, ...operations.filter((each) => each.tags[0] === tag).map(section)]),
    "## Objects",
    ...Object.entries(document.components.schemas).map(([name, schema]) => object(name, schema)),
  ].join("\n\n")}\n`;
}

function title(tag) {
  return tag.charAt(0).toUpperCase() + tag.slice(1);
}

function section(operation) {
  const { method, path, summary, description, parameters, requestBody, responses } = operation;
  const query = parameters.filter((each) => each.in === "query");
  const [status, answer] = Object.entries(responses)[0];
  const failures = Object.keys(responses).filter((each) => Number(each) >= 400);
  const lines = [
    `- Needs: ${NEEDS[operation["x-nexus-access"]]}`,
    ...query.map(({ name, description: text = "", schema }) => `- Query \`${name}\` (${typeOf(schema)}): ${text}`),
    ...(requestBody ? [`- Body: ${typeOf(requestBody.content["application/json"].schema)}`] : []),
    `- Answers ${status}${answerType(answer)}${failures.length > 0 ? `; failures: ${failures.join(", ")}` : ""}`,
  ];
  return [`### ${method} ${path}`, `${summary}.${description ? ` ${description}` : ""}`, lines.join("\n")].join("\n\n");
}

function answerType({ content = {} }) {
  const [[type, { schema }] = ["", {}]] = Object.entries(content);
  if (schema?.$ref) return `: ${typeOf(schema)}`;
  return type === "" ? "" : `: \`${type}\``;
}

function object(name, schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([key, member]) => {
    const mark = schema.required?.includes(key) ? "" : "?";
    return `| \`${key}\`${mark} | ${typeOf(member)} | ${escaped(member.description ?? "")} |`;
  });
  const table =
    rows.length === 0 ? typeOf(schema) : ["| member | type | meaning |", "|---|---|---|", ...rows].join("\n");
  return [`### Object ${name}`, ...(schema.description ? [schema.description] : []), table].join("\n\n");
}

function typeOf(schema) {
  if (schema.$ref) return reference(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(" or ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return some.map(typeOf).join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? typeOf(schema.items) : "anything"}`;
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  const fallback = schema.default === undefined ? "" : `, default \`${JSON.stringify(schema.default)}\``;
  return `${schema.type ?? "anything"}${schema.type === "object" ? "" : fallback}`;
}

function reference(ref) {
  const name = ref.split("/").at(-1);
  return `[${name}](#object-${name.toLowerCase()})`;
}

function escaped(cell) {
  return cell.replaceAll("|", "\\|");
}
