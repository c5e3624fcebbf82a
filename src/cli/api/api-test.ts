import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { runChecks, type CheckOutcome } from "../../workshop/run-checks.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { loadSound } from "./loaded.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { pluralize } from "../output/amounts.ts";

/** The same as for an error of a server. */
const FAILED = 5;

/** nexus api test capcorn */
export const apiTest = defineCommand({
  usage: "nexus api test <api> [--tool NAME]",
  description: `
Runs the checks of the tool file. Each check makes a complete call against its own fake. No network and no secrets are
needed. Exit code 5 if a check fails.`,
  words: { min: 1, max: 1 },
  options: { tool: { type: "string", value: "NAME", help: "run only the checks of this tool" } },
  examples: [
    ["nexus api test capcorn", "print one line per check"],
    ["nexus api test capcorn --json", `{"passed":14,"failed":0,"checks":[{"tool":"…","name":"…","problems":[]}]}`],
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
    const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
    const passed = outcomes.length - failed;
    if (out.json) out.value({ passed, failed, checks: outcomes });
    else if (outcomes.length === 0)
      out.note(`${given} has no checks${tool === undefined ? "" : ` for ${tool}`}. Add them under "checks" of a tool.`);
    else out.line(`\n${pluralize(passed, "check")} passed${failed === 0 ? "" : `, ${failed} failed`}`);
    return failed === 0 ? 0 : FAILED;
  },
});

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
