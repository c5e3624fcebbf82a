import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { runChecks, runMadeUpCalls, uncheckedTools, type CheckOutcome } from "../../workshop/run-checks.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { loadSound } from "./loaded.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { pluralize } from "../output/amounts.ts";

/** The same as for an error of a server. */
const FAILED = 5;
const MOST_SHOWN = 5;

/** nexus api test capcorn */
export const apiTest = defineCommand({
  usage: "nexus api test <api> [--tool NAME]",
  description: `
Runs the checks of the tool file. Each check makes a complete call against its own fake. Tools without checks are called
with made-up arguments, which shows that their requests can be written and their answers read. No network and no secrets
are needed. Exit code 5 if a check or a call fails.`,
  options: { tool: { type: "string", value: "NAME", help: "run only the checks of this tool" } },
  examples: [
    ["nexus api test capcorn", "print one line per check"],
    [
      "nexus api test capcorn --json",
      `{"passed":14,"failed":0,"checks":[{"tool":"…","name":"…","problems":[]}],"madeUp":[]}`,
    ],
  ],

  async run({ words: [given = ""], options: { tool }, out, signal, surroundings }) {
    const { api, file } = await loadSound(given, out, surroundings.home);
    if (!file) return;
    if (tool !== undefined) requireTool(file, tool);
    const outcomes: CheckOutcome[] = [];
    for await (const outcome of runChecks({ api, file }, { tool, signal })) {
      outcomes.push(outcome);
      if (!out.json) tell(outcome, out);
    }
    const madeUp: CheckOutcome[] = [];
    for await (const outcome of runMadeUpCalls({ api, file }, { tool, signal })) {
      madeUp.push(outcome);
      if (!out.json) tell(outcome, out);
    }
    const failed = countFailed(outcomes);
    const passed = outcomes.length - failed;
    const failedCalls = countFailed(madeUp);
    if (out.json) out.value({ passed, failed, checks: outcomes, madeUp });
    else if (outcomes.length + madeUp.length === 0) out.note(`${given} has nothing to test. ${howToAdd(tool)}`);
    else {
      const unchecked = uncheckedTools(file).filter((name) => tool === undefined || name === tool);
      tellSum({ passed, failed, madeUp, failedCalls, unchecked }, out);
    }
    return failed + failedCalls === 0 ? 0 : FAILED;
  },
});

function countFailed(outcomes: readonly CheckOutcome[]): number {
  return outcomes.filter(({ problems }) => problems.length > 0).length;
}

interface Sum {
  passed: number;
  failed: number;
  madeUp: readonly CheckOutcome[];
  failedCalls: number;
  unchecked: readonly string[];
}

function tellSum({ passed, failed, madeUp, failedCalls, unchecked }: Sum, out: Output): void {
  const andFailed = (count: number) => (count === 0 ? "" : `, ${count} failed`);
  out.line("");
  if (passed + failed > 0) out.line(`${pluralize(passed, "check")} passed${andFailed(failed)}`);
  if (madeUp.length > 0) {
    out.line(`${pluralize(madeUp.length - failedCalls, "made-up call")} answered${andFailed(failedCalls)}`);
  }
  if (unchecked.length === 0) return;
  const shown = unchecked.slice(0, MOST_SHOWN).join(", ");
  const more = unchecked.length > MOST_SHOWN ? ` and ${unchecked.length - MOST_SHOWN} more` : "";
  out.note(`Without checks of their own: ${shown}${more}. ${howToAdd(unchecked[0])}`);
}

function howToAdd(tool = "find_something"): string {
  return `Add what a call has to give to the file:
  tools:
    ${tool}:
      checks: [{ name: what it shows, call: { … }, expect: { structuredContent: { … } } }]`;
}

function tell({ tool, name, problems }: CheckOutcome, out: Output): void {
  const passed = problems.length === 0;
  const mark = passed ? out.style("green", "ok    ") : out.style("red", "FAILED");
  out.line(`${mark}  ${visible(`${tool}: ${name}`)}`);
  for (const problem of problems) out.line(`        ${visible(problem)}`);
}

function requireTool(file: ToolFile, name: string): void {
  const tools = Object.keys(file.tools);
  if (tools.includes(name)) return;
  const near = nearestName(name, tools);
  throw new NexusError("NAME_UNKNOWN", `${file.title} has no tool "${name}"`, {
    hint: `${near === undefined ? "" : `Did you mean "${near}"? `}It has: ${tools.join(", ")}.`,
    mayHaveReached: false,
  });
}
