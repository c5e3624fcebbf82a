import { NexusError } from "../../../errors/nexus-error.ts";
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
  const names = wire.split(".");
  const saysWhich = names.some((name) => name.endsWith("[]"));
  return names.map((name, index) => {
    const bare = name.replace(/\[\]$/, "");
    if (bare === "" || /[[\]]/.test(bare)) {
      throw new NexusError("CONFIG_INVALID", `The wire path "${wire}" is not a path of names with dots`);
    }
    return step(bare, saysWhich ? bare !== name : kind === "list" && index === names.length - 1);
  });
}

function step(name: string, repeats: boolean): WireStep {
  return { name, predicates: [], repeats };
}
