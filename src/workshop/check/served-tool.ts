import { NexusError } from "../../errors/nexus-error.ts";
import { checkerFor } from "./checker.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { DEFINITION_BYTES, toolDefinition } from "../compile/tool-definition.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { madeUpCall } from "./made-up.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

type Value = Record<string, unknown>;
type Check = ReturnType<typeof checkerFor>;

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 31);

/**
 * A tool as it is offered, with valid example calls for people and models: those of the file, or a generated one. The
 * approval covers everything they are made of.
 */
export function servedTool({ file, tools }: CompiledApi, name: string, check = checkerFor(file, name)): Tool {
  const tool = listedTool(file, tools, name);
  const accepts = (args: Value) => check(args).problems.length === 0;
  const given = (file.tools[name]?.examples ?? []).map((example) => example.arguments).filter(accepts);
  const generated = given.length > 0 ? undefined : acceptedCall(file, name, check);
  const examples = generated ? [generated] : given;
  for (let count = examples.length; count > 0; count--) {
    const served = { ...tool, inputSchema: { ...tool.inputSchema, examples: examples.slice(0, count) } };
    if (Buffer.byteLength(JSON.stringify(served)) <= DEFINITION_BYTES) return served;
  }
  return tool;
}

/** The definition of a listed tool, or of one that is found by searching. */
function listedTool(file: ToolFile, tools: Readonly<Record<string, Tool>>, name: string): Tool {
  const listed = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (listed) return listed;
  const spec = Object.hasOwn(file.tools, name) ? file.tools[name] : undefined;
  if (!spec) throw new NexusError("CONFIG_INVALID", `There is no tool "${name}"`);
  return toolDefinition(file, name, spec);
}

/** Generated arguments that the tool accepts, as simple as possible; undefined if none are found. */
export function acceptedCall(file: ToolFile, name: string, check: Check): Value | undefined {
  for (const args of madeUpCalls(file, name)) if (check(args).problems.length === 0) return args;
  return undefined;
}

/** The simplest first: rules may require a future day or one of two optional fields. */
function* madeUpCalls(file: ToolFile, tool: string): Generator<Value> {
  const type = file.tools[tool]?.input ?? "";
  const soon = Math.floor(Date.now() / DAY_MS + 30) * DAY_MS;
  yield madeUpCall(file, type, { from: FIRST_DAY, all: false });
  yield madeUpCall(file, type, { from: soon, all: false });
  yield madeUpCall(file, type, { from: soon, all: true });
}
