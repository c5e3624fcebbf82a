import { differences } from "../../workshop/review/differences.ts";
import { isApproved } from "../../workshop/review/lock.ts";
import { approvalText } from "./approval-text.ts";
import { showChanges } from "./change-rows.ts";
import { loadSound, ownLock } from "./loaded.ts";
import { trustFor } from "../../host/servers/load-options.ts";
import { defineCommand } from "../command/command.ts";
import { counted } from "../output/amounts.ts";

/** nexus api diff capcorn */
export const apiDiff = defineCommand({
  usage: "nexus api diff <api>",
  description: `
What differs between what was approved and what the file says now, by kind: effects raised, endpoints added, secrets used,
inputs narrowed, fields removed, descriptions changed. What deserves the longest look comes first. Nothing is cut short: of a
text every place that differs is shown, of a list every entry; with --json each change has both values as a whole.
What was approved by others and not by you counts as new; with --trust it counts as approved.
Exit code 0: nothing differs; 8: it would have to be approved.`,
  words: { min: 1, max: 1 },
  options: {},
  examples: [
    ["nexus api diff capcorn", "against the approval in api/capcorn/capcorn.nexus.lock"],
    ["nexus api diff capcorn --json --trust", "for a pipeline: does the lock fit the file?"],
  ],

  async run({ words: [given = ""], out, surroundings, stateFolder, flags }) {
    const loaded = await loadSound(given, out, surroundings.home);
    const { api, path, again, documents } = loaded;
    const lock = await ownLock(loaded, trustFor({ surroundings, stateFolder, trust: flags.trust }));
    const changes = differences(lock?.compiled, api, documents);
    const approved = isApproved(lock, api);
    const exit = approved ? 0 : 8;
    if (out.json) {
      out.value({ file: path, approved, from: lock?.compiled.hash, to: api.hash, changes });
      return exit;
    }
    if (changes.length > 0) {
      out.line(lock ? `${counted(changes.length, "change")} since the approval` : "New:");
      showChanges(out, changes);
      out.line();
    }
    const text = approvalText(api, loaded.lock, { name: again, isMine: lock !== undefined });
    if (approved || !lock) out.line(`${approved ? "Nothing differs. " : ""}${text}`);
    else out.line(`To agree with that: nexus api approve ${again}`);
    return exit;
  },
});
