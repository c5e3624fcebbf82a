import { canonicalJson } from "../../json/canonical-json.ts";
import { SEARCHED_META } from "../../protocol/meta.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { sha256 } from "../../text/digest.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { fullInputSchema, reachedIn, SOURCE_PAYLOAD } from "../compile/json-schema.ts";
import { isShown } from "../compile/schema-writer.ts";
import { annotations } from "../compile/tool-definition.ts";
import type { ToolFile, ToolSpec } from "../file/model/tool-file.ts";
import { findType } from "../shape/shape-parts.ts";

/** In an outline: identifies everything that the whole definition is made of. */
const DEFINITION_META = "dev.nexus/definition";

/**
 * The tools of an API that are found by searching, in short: what rules, sets and pins need to know of them. The whole
 * definitions of a large API would take seconds.
 */
export function toolOutlines({ file }: CompiledApi): Tool[] {
  const hashes = new Map<string, string>();
  const hashOf = (type: string): string => {
    const known = hashes.get(type) ?? sha256(canonicalJson(findType(file, type) ?? null));
    hashes.set(type, known);
    return known;
  };
  return Object.entries(file.tools)
    .filter(([, { offer }]) => offer === "search")
    .map(([name, spec]) => outline(file, { name, spec, hashOf }));
}

interface Outlined {
  name: string;
  spec: ToolSpec;
  hashOf: (type: string) => string;
}

function outline(file: ToolFile, { name, spec, hashOf }: Outlined): Tool {
  const { title, description, effect, input, unknown, response, meta, examples } = spec;
  const types = [...reachedIn(file, spec, "input").keys(), ...reachedIn(file, spec, "output").keys()];
  const { as, type, sourcePayload } = response;
  const reached = Object.fromEntries(types.map((each) => [each, hashOf(each)]));
  const made = { input, unknown, response: { as, type, sourcePayload }, meta, examples, types: reached };
  return {
    name,
    title,
    description,
    inputSchema: argumentNames(file, spec),
    annotations: annotations(effect, title),
    _meta: { [SEARCHED_META]: true, [DEFINITION_META]: sha256(canonicalJson(made)) },
  };
}

/** The arguments by name. One of several types is written in full: a set may fix an argument that not all of them have. */
function argumentNames(file: ToolFile, spec: ToolSpec): Tool["inputSchema"] {
  const type = findType(file, spec.input);
  if (type?.union) return { ...fullInputSchema(file, spec), type: "object" };
  const fields = Object.entries(type?.fields ?? {}).filter(([, field]) => isShown(field, "input"));
  const names = [...fields.map(([name]) => name), ...(spec.response.sourcePayload ? [SOURCE_PAYLOAD] : [])];
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])) };
}
