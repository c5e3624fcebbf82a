import type { Candidate } from "../../config/read/places.ts";
import { misplacedIn } from "../../config/read/variables.ts";
import { nodeOf } from "../../source/source-node.ts";
import { visible } from "../../text/visible.ts";
import { circumstancesAsWritten } from "../configure/entry-words.ts";
import type { ImportPlan } from "./import-plan.ts";
import { adviceAbout, literalSecrets } from "../configure/literal-secrets.ts";
import type { Output } from "../output/output.ts";
import { reachText } from "../look/reach-text.ts";
import { shortPath } from "../output/short-path.ts";

/** Reports what was imported, what was not, and what to check. */
export function tellImport(
  out: Output,
  { take, skip }: ImportPlan,
  { target, isDry, hasForeign, home }: { target: Candidate; isDry: boolean; hasForeign: boolean; home: string },
): void {
  const verb = isDry ? "Would add" : "Added";
  for (const { id, client, entry, inputs } of take) {
    out.line(`${verb} ${out.style("bold", id)} from ${client}: ${visible(reachText({ ...entry }) ?? "")}`);
    for (const secret of literalSecrets(entry)) {
      out.note(`${out.onStderr("yellow", "warning:")} ${id}: ${visible(adviceAbout(secret))}`);
    }
    if (circumstancesAsWritten(entry).some((line) => line.includes("${input:"))) {
      out.note(`${id}: Nexus asks for \${input:…} at every start; use \${secret:…} to store a value`);
    }
    for (const { what, hint } of misplacedIn(nodeOf(entry), [], { inputs })) {
      out.note(
        `${out.onStderr("yellow", "warning:")} ${id} cannot start yet: ${visible(what)}.${hint === undefined ? "" : ` ${visible(hint)}`}`,
      );
    }
  }
  for (const { server, reason } of skip) out.note(`Skipped ${server.id} from ${server.client}: ${visible(reason)}`);
  if (take.length === 0) return out.line(isDry ? "Nothing would be added." : "Nothing was added.");
  out.line(`${isDry ? "Nothing was written to" : "Written to"} ${shortPath(target.file, home)}`);
  if (!isDry && target.layer === "project" && hasForeign) {
    out.note("This file may contain entries of other people. Review and trust it: nexus mcp trust");
  }
}
