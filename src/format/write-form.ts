import { isDeepStrictEqual } from "node:util";
import { chosen, isEmpty, type Declared } from "./form.ts";

const ANY: Declared = { spec: { kind: "json" }, traits: {} };

/** A value as it is written: members in the order of the form, without those that have their default. */
export function writeForm({ spec, traits }: Declared, value: unknown): unknown {
  if (value === undefined || (value === null && traits.nullable)) return value;
  switch (spec.kind) {
    case "list": {
      const items = Array.isArray(value) ? value.map((item) => writeForm(spec.of, item)) : [];
      return spec.options.single === true && items.length === 1 ? items[0] : items;
    }
    case "map":
      return Object.fromEntries(entriesOf(value).map(([name, item]) => [name, writeForm(spec.of, item)]));
    case "record": {
      const given = new Map(entriesOf(value));
      const has = (name: string) => given.get(name) !== undefined;
      const members = Object.entries(spec.members).map(([name, member]) => [
        name,
        writtenMember(chosen(member, has), given.get(name)),
      ]);
      return Object.fromEntries(members.filter(([, member]) => member !== undefined));
    }
    case "kinds":
      return writeForm(spec.kinds[kindOf(value)] ?? ANY, value);
    case "varying":
      return value;
    case "lazy":
      return writeForm(spec.get(), value);
    case "changed":
      return writeForm(spec.of, spec.write(value));
    case "custom":
      return spec.write ? spec.write(value) : value;
    case "text":
    case "number":
    case "boolean":
    case "json":
    case "choice":
    case "constant":
      return value;
  }
}

function writtenMember(form: Declared, value: unknown): unknown {
  const { default: usual, filled, omitted, unlessEmpty } = form.traits;
  if (value === undefined || value === omitted) return undefined;
  if (usual !== undefined && isDeepStrictEqual(value, usual)) return undefined;
  const member = writeForm(form, value);
  return (filled || unlessEmpty) && isEmpty(member) ? undefined : member;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function kindOf(value: unknown): "text" | "number" | "boolean" | "list" | "map" | "null" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "text";
  return typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : "map";
}
