import type { ApiFacts, OperationFacts, SchemaFacts } from "../../../src/workshop/documents/api-facts.ts";
import type { DraftedManual } from "./manual-draft.ts";

/** What a person finds in a manual: for each request its values, each as `place.path: type, limit, …`. */
export interface ExpectedManual {
  title?: string;
  base: string;
  /** What the operator stores: `header X-Api-Key`, `query key`, `body password`, `bearer`, `basic`. */
  secrets?: string[];
  operations: Record<string, string[]>;
  /** Values of a field that takes codes: `POST /receipts body.fuel`. */
  codes: Record<string, string[]>;
  rules?: Record<string, string[]>;
  errors?: Record<string, number[]>;
}

export interface Score {
  found: Record<string, string>;
  missing: string[];
}

/** Counts what the reader found of what a person wrote down. */
export function scoreOf({ text, facts, file }: DraftedManual, expected: ExpectedManual): Score {
  const missing: string[] = [];
  const counts: Record<string, [found: number, all: number]> = {};
  const count = (what: string, name: string, isFound: boolean): void => {
    const [found, all] = counts[what] ?? [0, 0];
    counts[what] = [found + Number(isFound), all + 1];
    if (!isFound) missing.push(`${what}: ${name}`);
  };
  count("base", `${expected.base}, not ${file.upstream.base ?? "there"}`, file.upstream.base === expected.base);
  const { title, secrets } = expected;
  if (title !== undefined) count("title", `${title}, not ${facts.title}`, facts.title === title);
  if (secrets) count("secrets", `${secrets.join()}, not ${secretsOf(facts)}`, secrets.join() === secretsOf(facts));
  const byKey = new Map(facts.operations.map((operation) => [operation.key, operation]));
  for (const [key, fields] of Object.entries(expected.operations)) {
    const operation = byKey.get(key);
    count("endpoints", key, operation !== undefined);
    for (const line of fields) {
      const [, path = "", type, others = ""] = /^([^:,]+)(?:: ([^,]+))?(?:, (.*))?$/.exec(line) ?? [];
      const limits = others.split(", ").filter(Boolean);
      const schema = operation && schemaAt(operation, path);
      count("fields", `${key} ${path}`, schema !== undefined);
      const is = schema ? typeOf(schema) : "nothing";
      if (type !== undefined) count("types", `${key} ${path} ${type}, not ${is}`, is === type);
      for (const limit of limits) {
        const found = schema ? limitOf(schema, limit, operation, path) : "nothing";
        count("limits", `${key} ${path} ${limit}, not ${found}`, found === limit);
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
  for (const [key, rules] of Object.entries(expected.rules ?? {})) {
    const said = byKey.get(key)?.body?.contents[0]?.schema?.rules?.map(({ that }) => that) ?? [];
    for (const rule of rules) count("rules", `${key} ${rule}, not ${said.join()}`, said.includes(rule));
  }
  for (const [key, wanted] of Object.entries(expected.errors ?? {})) {
    const said = byKey.get(key)?.errors?.flatMap(({ status }) => status ?? []) ?? [];
    const statuses = [...new Set(said)].toSorted((a, b) => a - b);
    count("errors", `${key} ${wanted.join()}, not ${statuses.join()}`, wanted.join() === statuses.join());
  }
  for (const [what, name, evidence] of quotesIn(facts))
    count(
      "quotes",
      `${what} ${name} at ${evidence}`,
      citedText(text, evidence).toLowerCase().includes(name.toLowerCase()),
    );
  const found = Object.entries(counts).map(([what, [some, all]]) => [what, `${some} of ${all}`]);
  return { found: Object.fromEntries(found), missing };
}

/** Each field and code with the place that it cites. */
function quotesIn({ operations }: ApiFacts): [what: string, name: string, evidence: string][] {
  const visit = (key: string, name: string, schema: SchemaFacts): [string, string, string][] => [
    ...(name === "" || name === "text" ? [] : [[key, name, schema.evidence] as [string, string, string]]),
    ...(schema.codes ?? []).map(
      ({ value, evidence }) => [`${key} ${name}`, value, evidence] as [string, string, string],
    ),
    ...(schema.items ? visit(key, "", schema.items()) : []),
    ...[...schema.properties].flatMap(([member, read]) => visit(key, member, read())),
  ];
  return operations.flatMap(({ key, parameters, body, responses }) => [
    ...parameters.flatMap(({ name, schema }) => visit(key, name, schema)),
    ...[...(body?.contents ?? []), ...responses.flatMap(({ contents }) => contents)].flatMap(({ schema }) =>
      schema ? visit(key, "", schema) : [],
    ),
  ]);
}

/** The lines, or the page, that an evidence such as `manual#L3-L7` or `manual#P2` names. */
function citedText(text: string, evidence: string): string {
  const page = /#P(\d+)$/.exec(evidence)?.[1];
  if (page !== undefined) return text.split("\f")[Number(page) - 1] ?? "";
  const [, from, to = from] = /#L(\d+)(?:-L(\d+))?$/.exec(evidence) ?? [];
  return from === undefined
    ? ""
    : text
        .split("\n")
        .slice(Number(from) - 1, Number(to))
        .join("\n");
}

function secretsOf({ security, operations }: ApiFacts): string {
  const ofRequests = Object.values(security).map((scheme) =>
    scheme.kind === "apiKey" ? `${scheme.in} ${scheme.name}` : scheme.kind,
  );
  const inBodies = operations.flatMap(({ body }) =>
    [...(body?.contents[0]?.schema?.properties ?? [])].flatMap(([name, schema]) =>
      schema().secret ? [`body ${name}`] : [],
    ),
  );
  return [...new Set([...ofRequests, ...inBodies])].join();
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
  if (name === "required" || name === "optional") return isRequired(operation, path) ? "required" : "optional";
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
