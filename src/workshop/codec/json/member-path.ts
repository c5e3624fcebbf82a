import { NexusError } from "../../../errors/nexus-error.ts";
import { memberNames } from "../../file/model/member-names.ts";
import type { FieldSpec } from "../../file/model/tool-file.ts";
import type { Notation } from "../record/planner.ts";
import type { WireStep } from "../record/wire-path.ts";

/**
 * Wire paths of JSON and forms: `page.next`. A list is the last member, unless `[]` marks another: `data.items[].id`.
 */
export const MEMBERS: Notation = { steps: memberSteps, hasNamespaces: false };

/** The name of the step for the value itself, if it is a list. */
export const ITSELF = ".";

function memberSteps(wire: string, { kind }: FieldSpec["shape"]): WireStep[] {
  if (wire === ".") return [kind === "list" ? step(ITSELF, true) : { ...step("", false), text: true }];
  const names = memberNames(wire);
  if (!names) throw new NexusError("CONFIG_INVALID", `The wire path "${wire}" is not a path of names with dots`);
  const saysWhich = names.some(({ repeats }) => repeats);
  return names.map(({ name, repeats }, index) => {
    return step(name, saysWhich ? repeats : kind === "list" && index === names.length - 1);
  });
}

function step(name: string, repeats: boolean): WireStep {
  return { name, predicates: [], repeats };
}
