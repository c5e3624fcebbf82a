import type { RuleSpec, ToolFile, TypeSpec } from "../file/model/tool-file.ts";
import { findType, shapesOf, typesIn } from "../shape/shape-parts.ts";

/**
 * Everything about a tool that decides what its calls send upstream, with the tools and types that it uses; without
 * texts for people. Plain JSON.
 */
export function requestEssence(file: ToolFile, tool: string): unknown {
  const called = usedTools(file, tool).flatMap((name) => {
    const spec = file.tools[name];
    return spec ? [[name, spec] as const] : [];
  });
  return {
    upstream: file.upstream.base,
    namespaces: file.namespaces,
    secrets: file.secrets,
    tools: called.map(([name, { input, unknown, request, steps, paging, confirm, response }]) => {
      const { text: _text, ...read } = response;
      return { name, input, unknown, request, steps, paging, confirm, read };
    }),
    types: typesEssence(
      file,
      called.flatMap(([, { input, response }]) => [input, ...(response.type === undefined ? [] : [response.type])]),
    ),
  };
}

/** The tool itself, and those that it calls in steps or to confirm. */
function usedTools({ tools }: ToolFile, tool: string): string[] {
  const used = new Set([tool]);
  // The set grows while it is read.
  for (const name of used) {
    const spec = Object.hasOwn(tools, name) ? tools[name] : undefined;
    for (const { call } of Object.values(spec?.steps ?? {})) used.add(call);
    if (spec?.confirm) used.add(spec.confirm.call);
  }
  return [...used];
}

/** The types that are reached from these, by name, without texts for people. */
export function typesEssence(file: ToolFile, roots: readonly string[]): Record<string, unknown> {
  const reached = new Set(roots);
  const found: Record<string, unknown> = {};
  for (const name of reached) {
    const type = findType(file, name);
    if (!type) continue;
    found[name] = withoutTexts(type);
    for (const inner of shapesOf(type).flatMap(typesIn)) reached.add(inner);
  }
  return found;
}

function withoutTexts({ description: _description, fields, rules, ...type }: TypeSpec): unknown {
  const named = Object.entries(fields).map(([name, { description: _text, evidence: _evidence, ...field }]) => ({
    name,
    ...field,
  }));
  return { ...type, fields: named, rules: rules.map(({ that }: RuleSpec) => that) };
}
