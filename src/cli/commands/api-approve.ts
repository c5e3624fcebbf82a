import { userInfo } from "node:os";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../errors/visible.ts";
import { differences } from "../../workshop/review/differences.ts";
import { lockPath } from "../../config/lock-path.ts";
import { approve, isApproved } from "../../workshop/review/lock.ts";
import { showChanges } from "../api/change-rows.ts";
import { neededSecrets } from "../api/needed-secrets.ts";
import { loadSound } from "../api/loaded.ts";
import { defineCommand } from "../command.ts";
import { wrongUsage } from "../command-line.ts";
import type { Output } from "../output.ts";

/** nexus api approve capcorn */
export const apiApprove = defineCommand({
  usage: "nexus api approve <api> [--by NAME] [--yes]",
  description: `
Shows what the file would serve and what has changed, asks, and writes the approval into <api>.nexus.lock, with who and
when. What is approved is the hash of everything that is compiled: any change of the file has to be approved again.`,
  words: { min: 1, max: 1 },
  options: {
    by: { type: "string", value: "NAME", help: "who approves; the name of your account unless given" },
    yes: { type: "boolean", short: "y", help: "do not ask" },
  },
  examples: [
    ["nexus api approve capcorn", "shows the differences, and asks"],
    ['nexus api approve capcorn --by "Ada, API team" --yes', "for a pipeline, after a review"],
  ],

  async run({ words: [given = ""], options, out, signal, surroundings }) {
    const { api, lock, path, shown, again } = await loadSound(given, out, surroundings.home);
    const by = (options.by ?? accountName()).trim();
    if (by === "") throw wrongUsage("Nobody is named", 'Say who approves: --by "Ada, API team".');
    if (isApproved(lock, api)) {
      if (out.json) out.value({ file: path, approval: lock?.approvals.at(-1), changes: [] });
      else out.line("Approved already, exactly as it is.");
      return 0;
    }
    const changes = differences(lock?.compiled, api);
    if (!out.json) {
      out.line(lock ? "Changes since the last approval" : visible(`${api.file.title} ${api.file.version}, new`));
      showChanges(out, changes);
      out.line(`  requests go to ${api.file.upstream.allow.join(", ")}`);
      const secrets = neededSecrets(api.file);
      if (secrets.length > 0) out.line(`  with the secrets ${secrets.join(", ")}`);
      out.line();
    }
    if (!options.yes && !(await isAgreed(again, out, signal))) {
      out.line("Nothing was approved.");
      return 8;
    }
    const approval = await approve(path, api, { by, at: new Date() });
    if (out.json) out.value({ file: path, approval, changes });
    else out.line(`Approved by ${visible(by)}: ${approval.hash.slice(0, 19)}… in ${lockPath(shown)}`);
    if (!out.json && !lock) out.line(`To have it served: nexus mcp add ${api.file.api} --api ${again}`);
    return 0;
  },
});

async function isAgreed(name: string, out: Output, signal: AbortSignal): Promise<boolean> {
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", "Whether this is approved has to be answered, and there is no terminal", {
      hint: `Look at it ("nexus api diff ${name}"), then give --yes.`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../terminal-questions.ts");
  return /^y(?:es)?$/i.test((await askFor(out, { text: "Approve this? y/N", signal })).trim());
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
