import { RESERVED_WORDS } from "../../expression/parse.ts";
import { type Part, present } from "./part.ts";
import { readEvidence } from "./read-evidence.ts";
import { readField, type Known } from "./read-field.ts";
import { isScalarType } from "./read-scalar.ts";
import type { RuleSpec, TypeSpec } from "../model/tool-file.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

export function readTypes(part: Part, known: Known): Record<string, TypeSpec> {
  return Object.fromEntries(
    part.entries().map(([name, type]) => {
      if (isScalarType(name)) type.keyError(`"${name}" is the name of a type of values`);
      else checkName(type, name, "a type");
      return [name, readType(type, known)];
    }),
  );
}

function readType(part: Part, known: Known): TypeSpec {
  part.members(["description", "xml", "fields", "rules"], ["fields"]);
  const xml = part.part("xml");
  xml.members(["element", "namespace"]);
  const element = xml.part("element").text();
  if (element !== undefined && !/^[\p{L}_][\p{L}\p{N}._-]*$/u.test(element)) {
    xml.part("element").error(`"${element}" cannot be the name of an element`, "Write its namespace beside it.");
  }
  const fields = part.part("fields").entries();
  return present({
    description: part.part("description").text(),
    xml: present({ element, namespace: xml.part("namespace").text() }),
    fields: Object.fromEntries(
      fields.map(([name, field]) => {
        checkName(field, name, "a field");
        return [name, readField(field, name, known)];
      }),
    ),
    rules: part
      .part("rules")
      .items()
      .map((rule) => readRule(rule, known)),
  });
}

function readRule(part: Part, { documents }: Known): RuleSpec {
  part.members(["that", "say", "evidence"], ["that", "say"]);
  return {
    that: part.part("that").text() ?? "true",
    say: part.part("say").text() ?? "",
    evidence: readEvidence(part.part("evidence"), documents),
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
