// Counts the parameters of an API description. It shares no code with src, so that it does not share its mistakes.
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { graphqlOperations, wsdlOperations } from "./independent-services.mjs";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/** OpenAPI says that header parameters with these names are ignored. */
const IGNORED_HEADERS = ["accept", "content-type", "authorization"];

/** Files that are API descriptions. */
export const DESCRIPTION = /\.(?:ya?ml|json|wsdl|graphqls?|gql)$/i;

/**
 * The operations of a document by `GET /pets`: `parameters` (`query limit`), and `bodies`: for each media type the members
 * at the top of the body, or `(body)` if it is not an object.
 */
export function countOperations(path) {
  if (/\.wsdl$/i.test(path)) return wsdlOperations(path);
  if (/\.(?:graphqls?|gql)$/i.test(path)) return graphqlOperations(path);
  const text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
  const root = path.endsWith(".json") ? JSON.parse(text) : parse(text, { schema: "core", maxAliasCount: -1 });
  if (root.__schema ?? root.data?.__schema) return graphqlOperations(path);
  return root.info?.schema || root.item ? postmanOperations(root) : openApiOperations(root);
}

function openApiOperations(root) {
  const found = new Map();
  const methods = String(root.openapi ?? "").startsWith("3.2") ? [...METHODS, "query"] : METHODS;
  for (const [path, written] of Object.entries(root.paths ?? {})) {
    if (path.startsWith("x-")) continue;
    const item = follow(root, written);
    const own = Object.entries(item ?? {}).filter(([name]) => methods.includes(name));
    for (const [method, operation] of [...own, ...Object.entries(item?.additionalOperations ?? {})]) {
      found.set(`${method.toUpperCase()} ${path}`, readOperation(root, path, { item, operation }));
    }
  }
  return found;
}

function readOperation(root, path, { item, operation }) {
  const all = new Map();
  for (const written of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const parameter = follow(root, written);
    if (parameter) all.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  const parameters = [];
  const bodies = new Map();
  const form = [];
  for (const { name, in: place, schema, type } of all.values()) {
    if (place === "body") bodies.set("body", membersOf(root, schema));
    else if (place === "formData") form.push(name);
    else if (name === "" || name === undefined) continue;
    else if (place === "header" && IGNORED_HEADERS.includes(name.toLowerCase())) continue;
    else if (place === "path" && !path.includes(`{${name}}`)) continue;
    else if (type !== undefined || place !== undefined) parameters.push(placed(place, name));
  }
  if (form.length > 0) bodies.set("form", form);
  const body = follow(root, operation.requestBody);
  for (const [type, content] of Object.entries(body?.content ?? {})) {
    if (!body.required && carriesNothing(root, type, content)) continue;
    bodies.set(type, content?.schema ? membersOf(root, content.schema) : ["(body)"]);
  }
  return { parameters, bodies };
}

/** An optional body whose only value is an empty object, and a form that names no member, have nothing to send. */
function carriesNothing(root, type, content) {
  const schema = follow(root, content?.schema);
  if (typeof schema !== "object" || schema === null || content.example || content.examples) return false;
  const told = Object.keys(schema).filter(
    (name) => !["type", "properties", "additionalProperties", "title", "description"].includes(name),
  );
  if (told.length > 0 || Object.keys(schema.properties ?? {}).length > 0) return false;
  if (schema.type !== undefined && schema.type !== "object") return false;
  if (schema.additionalProperties === false) return schema.type === "object" || schema.properties !== undefined;
  return schema.additionalProperties === undefined && /^(?:application\/x-www-form-urlencoded|multipart\/)/i.test(type);
}

/** The names at the top of a body, of all alternatives; without those that only answers have. */
function membersOf(root, schema) {
  const names = new Set();
  collect(root, schema, { names, seen: new Set() });
  return names.size > 0 ? [...names] : ["(body)"];
}

function collect(root, written, { names, seen }) {
  const schema = follow(root, written);
  if (!schema || typeof schema !== "object" || seen.has(schema)) return;
  seen.add(schema);
  // Beside a reference only 3.1 has more.
  if (written !== schema && written.properties) collect(root, { ...written, $ref: undefined }, { names, seen });
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const target = follow(root, property);
    const isReadOnly = property?.readOnly === true || target?.readOnly === true;
    if (!isReadOnly) names.add(name);
  }
  for (const part of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) {
    collect(root, part, { names, seen });
  }
}

function follow(root, value) {
  for (let hops = 0; hops < 50 && typeof value?.$ref === "string"; hops++) {
    if (!value.$ref.startsWith("#")) return undefined;
    const steps = decodeURIComponent(value.$ref.slice(1)).split("/").slice(1);
    value = steps.reduce((at, step) => at?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root);
  }
  return value;
}

function placed(place, name) {
  return `${place} ${place === "header" ? name.toLowerCase() : name}`;
}

function postmanOperations(root) {
  const found = new Map();
  const walk = (items) => {
    for (const entry of items ?? []) {
      if (entry.item) walk(entry.item);
      else if (entry.request) {
        const key = keyOf(entry.request);
        const same = [...found.keys()].filter((other) => other === key || other.startsWith(`${key} (`)).length;
        found.set(same === 0 ? key : `${key} (${same + 1})`, readRequest(entry.request));
      }
    }
  };
  walk(root.item);
  return found;
}

/** `GET /pets/{id}` */
function keyOf(request) {
  return `${request.method ?? "GET"} /${stepsOf(request)
    .map((step) => step.replace(/^:(\w+)/, "{$1}"))
    .join("/")}`;
}

function stepsOf({ url }) {
  if (Array.isArray(url?.path)) return url.path.map((step) => step.value ?? step);
  const raw = typeof url === "string" ? url : (url?.raw ?? "");
  return raw
    .replace(/^\w+:\/\/|[?#].*$/gs, "")
    .split("/")
    .slice(1);
}

function readRequest(request) {
  const url = typeof request.url === "string" ? { raw: request.url } : (request.url ?? {});
  const query = url.query ?? [...new URLSearchParams(url.raw?.split("?")[1] ?? "")].map(([key]) => ({ key }));
  const steps = stepsOf(request);
  const headers = (request.header ?? []).filter(({ key }) => !IGNORED_HEADERS.includes(String(key).toLowerCase()));
  const parameters = [
    ...steps.filter((step) => /^:\w/.test(step)).map((step) => `path ${step.slice(1)}`),
    ...query.filter(({ key }) => key).map(({ key }) => `query ${key}`),
    ...headers.map(({ key }) => placed("header", key)),
  ];
  return { parameters: [...new Set(parameters)], bodies: postmanBody(request.body) };
}

function postmanBody(body) {
  const fields = body?.[body?.mode];
  if (!body?.mode || fields === undefined || fields.length === 0) return new Map();
  if (Array.isArray(fields)) return new Map([[body.mode, fields.map(({ key }) => key)]]);
  try {
    const value = JSON.parse(fields);
    return new Map([["json", Array.isArray(value) ? ["(body)"] : Object.keys(value)]]);
  } catch {
    return new Map([[body.mode, ["(body)"]]]);
  }
}
