import { problemText, loadNamed, openQuestions, ownLock } from "./loaded.ts";
import { approvalText } from "./approval-text.ts";
import { trustFor } from "../../host/servers/load-options.ts";
import { defineCommand } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";

/** nexus api check capcorn */
export const apiCheck = defineCommand({
  usage: "nexus api check <api> [--strict]",
  description: `
Checks a tool file and prints every problem with line and column: errors, unknown names, exceeded limits, changed documents
and statements without evidence. Nothing is sent over the network.
<api> is a path or a name. A name means api/<name>/<name>.nexus.yaml in this folder or in the package.`,
  options: { strict: { type: "boolean", help: "treat warnings as errors" } },
  examples: [
    ["nexus api check capcorn", "check api/capcorn/capcorn.nexus.yaml"],
    ["nexus api check ./shop.nexus.yaml --json", "JSON for an editor or a pipeline"],
  ],

  async run({ words: [given = ""], options, out, surroundings, stateFolder, flags }) {
    const loaded = await loadNamed(given, surroundings.home);
    const { path, shown, again, problems, api, lock } = loaded;
    const isMine = (await ownLock(loaded, trustFor({ surroundings, stateFolder, trust: flags.trust }))) !== undefined;
    const errors = problems.filter(({ severity }) => severity === "error").length;
    const warnings = problems.length - errors;
    const exit = errors > 0 || (options.strict && warnings > 0) ? 3 : 0;
    if (out.json) {
      const approved = isMine && api !== undefined && lock?.compiled.hash === api.hash;
      out.value({ file: path, problems, hash: api?.hash, approved, tools: Object.keys(api?.tools ?? {}) });
      return exit;
    }
    for (const problem of problems) out.line(problemText(shown, problem));
    if (problems.length > 0) out.line();
    const found = [pluralize(errors, "error"), pluralize(warnings, "warning")].join(", ");
    const tools = Object.keys(api?.tools ?? {});
    const searched = Object.values(api?.file.tools ?? {}).filter(({ offer }) => offer === "search").length;
    const names = tools.length > 0 ? `: ${tools.join(", ")}` : "";
    const more = searched > 0 ? `; ${searched} more by searching` : "";
    out.line(`${shown}: ${found}; ${pluralize(tools.length, "tool")}${names}${more}`);
    const open = openQuestions(loaded);
    if (open !== undefined) out.advice(open);
    if (api && errors === 0) out.advice(approvalText(api, lock, { name: again, isMine }));
    return exit;
  },
});
