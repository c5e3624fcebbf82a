import type { OperationFacts, SchemaFacts } from "../../../src/workshop/documents/api-facts.ts";
import type { DraftedManual } from "./manual-draft.ts";

/** What a person finds in a manual: for each request its values, each as `place.path: type, limit, …`. */
export interface ExpectedManual {
  base: string;
  operations: Record<string, string[]>;
  /** Values of a field that takes codes: `POST /receipts body.fuel`. */
  codes: Record<string, string[]>;
  rules: Record<string, string[]>;
  errors: Record<string, number[]>;
}

export interface Score {
  found: Record<string, string>;
  missing: string[];
}

/** Counts what the reader found of what a person wrote down. */
export function scoreOf({ facts, file }: DraftedManual, expected: ExpectedManual): Score {
  const missing: string[] = [];
  const counts: Record<string, [found: number, all: number]> = {};
  const count = (what: string, name: string, isFound: boolean): void => {
    const [found, all] = counts[what] ?? [0, 0];
    counts[what] = [found + Number(isFound), all + 1];
    if (!isFound) missing.push(`${what}: ${name}`);
  };
  count("base", `${expected.base}, not ${file.upstream.base ?? "there"}`, file.upstream.base === expected.base);
  const byKey = new Map(facts.operations.map((operation) => [operation.key, operation]));
  for (const [key, fields] of Object.entries(expected.operations)) {
    const operation = byKey.get(key);
    count("endpoints", key, operation !== undefined);
    for (const line of fields) {
      const [path = "", ...facets] = line.split(/: |, /);
      const schema = operation && schemaAt(operation, path);
      count("fields", `${key} ${path}`, schema !== undefined);
      for (const [at, facet] of facets.entries()) {
        const is = schema ? (at === 0 ? typeOf(schema) : limitOf(schema, facet, operation, path)) : "nothing";
        count(at === 0 ? "types" : "limits", `${key} ${path} ${facet}, not ${is}`, is === facet);
      }
    }
  }
  for (const key of byKey.keys()) count("endpoints", `${key} is too many`, Object.hasOwn(expected.operations, key));
  for (const [place, wanted] of Object.entries(expected.codes)) {
    const [method = "", url = "", path = ""] = place.split(" ");
    const operation = byKey.get(`${method} ${url}`);
    const schema = operation && schemaAt(operation, path);
    const values = schema?.codes?.map(({ value }) => String(value)) ?? schema?.enum?.map(String) ?? [];
    count("code lists", `${place} ${wanted.join()}, not ${values.join()}`, wanted.join() === values.join());
  }
  for (const [key, rules] of Object.entries(expected.rules)) {
    const said = byKey.get(key)?.body?.contents[0]?.schema?.rules?.map(({ that }) => that) ?? [];
    for (const rule of rules) count("rules", `${key} ${rule}, not ${said.join()}`, said.includes(rule));
  }
  for (const [key, wanted] of Object.entries(expected.errors)) {
    const statuses = byKey.get(key)?.errors?.flatMap(({ status }) => status ?? []) ?? [];
    count("errors", `${key} ${wanted.join()}, not ${statuses.join()}`, wanted.join() === statuses.join());
  }
  const found = Object.entries(counts).map(([what, [some, all]]) => [what, `${some} of ${all}`]);
  return { found: Object.fromEntries(found), missing };
}

/** `query.status`, `body.drivers[].name`, `answer.vehicles[].plate`; `[]` where a list is. */
function schemaAt(operation: OperationFacts, path: string): SchemaFacts | undefined {
  const [place = "", ...steps] = path.split(".");
  let at: SchemaFacts | undefined;
  if (place === "body") at = operation.body?.contents[0]?.schema;
  else if (place === "answer") at = operation.responses[0]?.contents[0]?.schema;
  else return operation.parameters.find(({ in: where, name }) => where === place && name === steps[0])?.schema;
  for (const step of steps) {
    at = at?.properties.get(step.replace("[]", ""))?.();
    if (step.endsWith("[]")) at = at?.items?.();
  }
  return at;
}

function typeOf({ types, format }: SchemaFacts): string {
  return format ?? types.join("|");
}

function limitOf(schema: SchemaFacts, facet: string, operation: OperationFacts, path: string): string {
  const [name = ""] = facet.split(" ");
  if (name === "required") return isRequired(operation, path) ? "required" : "optional";
  const value: unknown = Reflect.get(schema, name);
  return `${name} ${String(value)}`;
}

function isRequired(operation: OperationFacts, path: string): boolean {
  const steps = path.split(".");
  const name = steps.at(-1)?.replace("[]", "") ?? "";
  if (steps[0] !== "body")
    return operation.parameters.some((each) => each.in === steps[0] && each.name === name && each.required);
  return schemaAt(operation, steps.slice(0, -1).join("."))?.required.has(name) === true;
}
