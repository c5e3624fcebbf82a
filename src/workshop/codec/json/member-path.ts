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
  const names = memberNames(wire);
  if (!names) throw new NexusError("CONFIG_INVALID", `The wire path "${wire}" is not a path of names with dots`);
  const saysWhich = names.some(({ repeats }) => repeats);
  return names.map(({ name, repeats }, index) => {
    return step(name, saysWhich ? repeats : kind === "list" && index === names.length - 1);
  });
}

/**
 * The names of a path; undefined if it is not one. `\` before a character makes it a part of the name:
 * `odata\.type` is one name.
 */
export function memberNames(wire: string): { name: string; repeats: boolean }[] | undefined {
  const steps = wire.match(/(?:\\.|[^.\\])+|(?:^|(?<=\.))(?=\.|$)/gs) ?? [];
  const names = steps.map((text) => {
    const bare = text.replace(/(?<!\\)\[\]$/, "");
    const isName = bare !== "" && !/[[\]]/.test(bare.replaceAll(/\\./gs, ""));
    return { name: isName ? bare.replaceAll(/\\(.)/gs, "$1") : "", repeats: bare !== text };
  });
  return names.length === 0 || names.some(({ name }) => name === "") ? undefined : names;
}

/** The name of a member in forms and parameters, where a path is one name with dots. */
export function flatName(wire: string): string {
  return (
    memberNames(wire)
      ?.map(({ name }) => name)
      .join(".") ?? wire
  );
}

/** The path of one member, whatever its name. */
export function memberPath(name: string): string {
  return name.replaceAll(/[.\\[\]]/g, String.raw`\$&`);
}

function step(name: string, repeats: boolean): WireStep {
  return { name, predicates: [], repeats };
}
