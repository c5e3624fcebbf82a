import type { Shape, ToolFile, ToolSpec } from "../../../src/workshop/file/model/tool-file.ts";

/** What a tool sends: `query limit`, `header x-tenant`, `body name`, `body (body)`. */
export function sentBy(file: ToolFile, spec: ToolSpec, operation: string): string[] {
  const { request, input } = spec;
  if (!request) return [];
  const { query, headers, cookies = {}, secrets, path, body } = request;
  const credentials = secrets === undefined ? undefined : file.secrets[secrets];
  const inPath = [...path.matchAll(/\{[.;]?([^{}*]+)\*?\}/g)].map(([, field = ""]) => field);
  const elsewhere = new Set([
    ...inPath,
    ...[query, headers, cookies].flatMap((places) => Object.values(places).flatMap((value) => fieldOf(value) ?? [])),
  ]);
  const isXml = body === "xml";
  const fields = Object.entries(file.types[input]?.fields ?? {});
  const members = fields.filter(([name]) => body !== undefined && !elsewhere.has(name));
  return [
    ...pathNames(inPath, operation).map((name) => `path ${name}`),
    ...Object.keys({ ...query, ...credentials?.query }).map((name) => `query ${name}`),
    ...Object.keys({ ...headers, ...credentials?.headers }).map((name) => `header ${name.toLowerCase()}`),
    ...Object.keys({ ...cookies, ...credentials?.cookies }).map((name) => `cookie ${name}`),
    ...(body === undefined ? [] : ["body (body)"]),
    ...members.flatMap(([, { wire, shape, const: fixed }]) => {
      if (wire === false) return [];
      if (wire === "." && fixed === undefined)
        return [...topMembers(file, shape, new Set())].map((name) => `body ${name}`);
      return isXml ? elementsOf(wire).map((path) => `body ${path}`) : [`body ${wire}`];
    }),
    ...[...additionalMembers(file, input)].map((name) => `body ${name}`),
  ];
}

/** The names in the path of the document: fields may have others, where two parameters have the same name. */
function pathNames(fields: readonly string[], operation: string): readonly string[] {
  const names = [...operation.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  return names.length === fields.length ? names : fields;
}

/** `Body/ns:Get/ns:name[]` gives `Body`, `Body/Get` and `Body/Get/name`. */
function elementsOf(wire: string): string[] {
  const steps = wire.split("/").map((step) => step.replace(/^@?(?:[^:]*:)?/, "").replace(/\[\]$/, ""));
  return steps.map((_, at) => steps.slice(0, at + 1).join("/"));
}

function fieldOf(value: string | object): string | undefined {
  if (typeof value === "string") return value;
  return "field" in value && typeof value.field === "string" ? value.field : undefined;
}

/** The names at the top of a value, of all alternatives. */
function topMembers(file: ToolFile, shape: Shape, seen: Set<string>): Set<string> {
  switch (shape.kind) {
    case "object": {
      const type = file.types[shape.type];
      if (!type || seen.has(shape.type)) return new Set();
      seen.add(shape.type);
      const own = Object.values(type.fields).flatMap(({ wire }) => (wire === false ? [] : [wire]));
      return new Set([...own, ...(type.union ? topMembers(file, type.union, seen) : [])]);
    }
    case "union":
      return new Set(shape.of.flatMap((part) => [...topMembers(file, part, seen)]));
    case "any":
      return schemaMembers(shape.schema, shape.schema, 0);
    case "list":
    case "map":
    case "scalar":
      return new Set();
  }
}

/** Of an input that is a union itself. */
function additionalMembers(file: ToolFile, input: string): Set<string> {
  const union = file.types[input]?.union;
  return union ? topMembers(file, union, new Set()) : new Set();
}

function schemaMembers(schema: unknown, root: unknown, depth: number): Set<string> {
  if (typeof schema !== "object" || schema === null || depth > 20) return new Set();
  const { properties, allOf, oneOf, anyOf, $ref } = schema as Record<string, unknown>;
  const definition = typeof $ref === "string" ? /^#\/\$defs\/(.+)$/.exec($ref)?.[1] : undefined;
  const target =
    definition === undefined ? undefined : (root as { $defs?: Record<string, unknown> }).$defs?.[definition];
  const parts = [allOf, oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return new Set([
    ...(typeof properties === "object" && properties !== null ? Object.keys(properties) : []),
    ...[...parts, target].flatMap((part) => [...schemaMembers(part, root, depth + 1)]),
  ]);
}
