import { RESERVED_WORDS } from "../../expression/parse.ts";
import { type Part, present } from "../../../format/part.ts";
import { readEvidence } from "./read-evidence.ts";
import { readField } from "./read-field.ts";
import { isScalarType } from "./read-scalar.ts";
import { type Known, readInner } from "./read-shape.ts";
import { readUnion, UNION_KEYS } from "./read-union.ts";
import type { RuleSpec, TypeSpec } from "../model/tool-file.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const KEYS = ["description", "xml", "include", "evidence", "fields", "rules", "additional"];

/** Before the fields of included types are added. */
export function readTypes(part: Part, known: Known): Record<string, TypeSpec> {
  return Object.fromEntries(
    part.entries().map(([name, type]) => {
      if (isScalarType(name) && name !== "binary") type.keyError(`"${name}" is the name of a type of values`);
      else checkName(type, name, "a type");
      return [name, type.has("oneOf") ? readUnionType(type, known) : readType(type, known)];
    }),
  );
}

function readUnionType(part: Part, known: Known): TypeSpec {
  for (const key of KEYS.filter((each) => each !== "description" && each !== "evidence" && part.has(each))) {
    part.part(key).keyError(`${key} belongs to the alternatives`, "Write it at the types that oneOf names.");
  }
  part.members([...KEYS, ...UNION_KEYS]);
  const evidence = readEvidence(part.part("evidence"), known.documents);
  return present({
    description: part.part("description").text(),
    xml: {},
    fields: {},
    rules: [],
    union: readUnion(part, (item) => readInner(item, known)),
    evidence: evidence.length === 0 ? undefined : evidence,
  });
}

function readType(part: Part, known: Known): TypeSpec {
  const needsFields = !part.has("include") && !part.has("additional");
  part.members([...KEYS, ...UNION_KEYS], needsFields ? ["fields"] : []);
  if (part.has("discriminator")) part.part("discriminator").keyError("belongs to oneOf");
  const xml = part.part("xml");
  xml.members(["element", "namespace"]);
  const element = xml.part("element").text();
  if (element !== undefined && !/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(element)) {
    xml.part("element").error(`"${element}" cannot be the name of an element`, "Write its namespace beside it.");
  }
  const evidence = readEvidence(part.part("evidence"), known.documents);
  const fields = part.part("fields").entries();
  return present({
    description: part.part("description").text(),
    xml: present({ element, namespace: readNamespace(xml.part("namespace")) }),
    fields: Object.fromEntries(
      fields.map(([name, field]) => {
        checkName(field, name, "a field");
        return [name, readField(field, name, known, evidence)];
      }),
    ),
    rules: part
      .part("rules")
      .items()
      .map((rule) => readRule(rule, known, evidence)),
    additional: part.has("additional") ? readInner(part.part("additional"), known) : undefined,
    evidence: evidence.length === 0 ? undefined : evidence,
  });
}

/** An empty one says that the elements inside have no namespace, whatever is around them. */
function readNamespace(part: Part): string | undefined {
  return part.value() === "" ? "" : part.text();
}

function readRule(part: Part, { documents }: Known, evidence: readonly string[]): RuleSpec {
  part.members(["that", "say", "evidence"], ["that", "say"]);
  return {
    that: part.part("that").text() ?? "true",
    say: part.part("say").text() ?? "",
    evidence: part.has("evidence") ? readEvidence(part.part("evidence"), documents) : [...evidence],
  };
}

/** Expressions also use the names. */
function checkName(part: Part, name: string, what: string): void {
  if (!NAME.test(name)) {
    part.keyError(`"${name}" cannot be the name of ${what}`, "Letters, digits and _, beginning with a letter.");
  } else if (RESERVED_WORDS.includes(name)) {
    part.keyError(`"${name}" has a meaning of its own in expressions`, "Choose another name.");
  }
}
