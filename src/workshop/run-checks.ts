import { isRecord } from "../json/is-record.ts";
import { shorten } from "../text/shorten.ts";
import type { CallToolResult } from "../protocol/mcp.ts";
import type { CompiledApi } from "./compile/compile.ts";
import type { CheckSpec, ToolFile } from "./file/model/tool-file.ts";
import { ApiRunner } from "./run/api-runner.ts";
import { exampleSettings } from "./run/setting-values.ts";
import { startFake, type Fake } from "./fake/fake.ts";

/** The result of one check. */
export interface CheckOutcome {
  tool: string;
  name: string;
  /** Differences from the expected result; empty if it passed. */
  problems: string[];
}

/** Maximum number of characters of the actual result. */
const SHOWN = 300;

interface Tested {
  api: CompiledApi;
  file: ToolFile;
}

interface RunOptions {
  /** Only this tool. */
  tool?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Runs the checks of a file against its fake, each from the initial state. */
export async function* runChecks(
  { api, file }: Tested,
  { tool: only, signal }: RunOptions = {},
): AsyncGenerator<CheckOutcome> {
  await using fake = await startFake(file);
  await using runner = runnerFor(api, fake);
  for (const [tool, { checks, steps }] of Object.entries(file.tools)) {
    if (only !== undefined && tool !== only) continue;
    for (const [index, check] of checks.entries()) {
      fake.reset();
      // Other tools, which a check may call before, still work.
      if (check.fake) fake.fail(check.fake, Infinity, check.failing ?? (steps ? undefined : tool));
      // Each check is another caller, so its writes are separate.
      const result = await runner.call(tool, check.call, { caller: `check ${index}`, signal });
      yield { tool, name: check.name, problems: problemsOf(check.expect, result) };
    }
  }
}

/**
 * Calls the tools that have neither checks nor answers in the file with made-up arguments: it shows that requests can be
 * written as the file describes them, and answers read, and not that they mean the right thing.
 */
export async function* runMadeUpCalls(
  { api, file }: Tested,
  { tool: only, signal }: RunOptions = {},
): AsyncGenerator<CheckOutcome> {
  await using fake = await startFake(file);
  await using runner = runnerFor(api, fake);
  for (const tool of uncheckedTools(file)) {
    if (only !== undefined && tool !== only) continue;
    const call = runner.acceptedCall(tool);
    if (!call) continue;
    fake.reset();
    const result = await runner.call(tool, call, { caller: `made up for ${tool}`, signal });
    // An answer that the file gives is what a document shows, which need not be what it says.
    const isGiven = (file.fake.tools[tool]?.answers.length ?? 0) > 0;
    const problems = [...problemsOf({}, result), ...(isGiven ? [] : deviationsOf(result))];
    yield { tool, name: "made-up arguments", problems };
  }
}

/** The tools of a file about whose results it says nothing. */
export function uncheckedTools({ tools }: ToolFile): string[] {
  return Object.entries(tools).flatMap(([name, { checks, steps }]) => {
    return checks.length > 0 || steps ? [] : [name];
  });
}

function runnerFor(api: CompiledApi, { url, secrets }: Fake): ApiRunner {
  const { file } = api;
  return new ApiRunner(api, {
    upstream: url,
    settings: exampleSettings(file),
    secrets: async (name) => secrets[name.slice(file.api.length + 1)],
    pause: async () => {},
  });
}

function deviationsOf({ structuredContent }: CallToolResult): string[] {
  const found: unknown = structuredContent?.["deviations"];
  const deviations: unknown[] = Array.isArray(found) ? found : [];
  return deviations
    .filter(isRecord)
    .map(({ path, problem }) => `the answer of the fake: ${String(path)}: ${String(problem)}`);
}

function problemsOf({ error, structuredContent, text }: CheckSpec["expect"], result: CallToolResult): string[] {
  const said = result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (error !== undefined) {
    if (!result.isError) return [`expected it to fail with ${JSON.stringify(error)}, but it gave ${shown(said)}`];
    return said.includes(error) ? [] : [`expected the failure to say ${JSON.stringify(error)}, not ${shown(said)}`];
  }
  if (result.isError) return [`failed: ${shown(said)}`];
  return [
    ...(text === undefined || said.includes(text)
      ? []
      : [`expected the text ${JSON.stringify(text)}, not ${shown(said)}`]),
    ...(structuredContent === undefined ? [] : differences(structuredContent, result.structuredContent, "")),
  ];
}

/** Unexpected members are allowed; lists must have the expected length. */
export function differences(expected: unknown, actual: unknown, path: string): string[] {
  const where = path === "" ? "the result" : path;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${where}: expected a list, not ${shown(actual)}`];
    if (actual.length !== expected.length) {
      return [`${where}: expected ${expected.length} items, not ${actual.length}`];
    }
    return expected.flatMap((item, index) => differences(item, actual[index], `${path}[${index}]`));
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof actual !== "object" || actual === null || Array.isArray(actual)) {
      return [`${where}: expected an object, not ${shown(actual)}`];
    }
    const members = actual as Record<string, unknown>;
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(value, Object.hasOwn(members, key) ? members[key] : undefined, path === "" ? key : `${path}.${key}`),
    );
  }
  return expected === actual ? [] : [`${where}: expected ${JSON.stringify(expected)}, not ${shown(actual)}`];
}

function shown(value: unknown): string {
  return shorten(value === undefined ? "nothing" : JSON.stringify(value), SHOWN);
}
