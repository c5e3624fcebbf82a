// What openapi-mcp-generator makes of a document, in the form of `import-one.ts`: other-generator.mjs <file>
import { readFileSync } from "node:fs";

const place = new URL("../../tools/node_modules/openapi-mcp-generator/dist/api.js", import.meta.url);
const { getToolsFromOpenApi } = await import(place.href);

const start = process.cpuUsage();
const log = console.log;
// It reports its progress where the result belongs.
console.log = console.warn = console.error = () => {};
const tools = await getToolsFromOpenApi(process.argv[2], { dereference: true });
const { user, system } = process.cpuUsage(start);
const seconds = (user + system) / 1_000_000;
const report = {
  tools: tools.map(({ name, method, pathTemplate, executionParameters, inputSchema }) => ({
    name,
    operation: `${method.toUpperCase()} ${pathTemplate}`,
    sent: [
      ...executionParameters.map(
        ({ name: parameter, in: place }) => `${place} ${place === "header" ? parameter.toLowerCase() : parameter}`,
      ),
      ...bodyMembers(inputSchema),
    ],
  })),
  omitted: [],
  seconds,
  megabytes: Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024,
};
log(JSON.stringify(report));

function bodyMembers(schema) {
  const body = schema?.properties?.requestBody;
  if (!body) return [];
  const names = new Set(["(body)"]);
  collect(body, names, 0);
  return [...names].map((name) => `body ${name}`);
}

function collect(schema, names, depth) {
  if (!schema || depth > 10) return;
  for (const name of Object.keys(schema.properties ?? {})) names.add(name);
  for (const part of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])])
    collect(part, names, depth + 1);
}
