import { differences } from "../../workshop/review/differences.ts";
import { isApproved } from "../../workshop/review/lock.ts";
import { approvalText } from "./approval-text.ts";
import { QUOTES, showChanges } from "./change-rows.ts";
import { inNewestFormat, loadSound, ownLock } from "./loaded.ts";
import { publishedBefore, publishedText } from "./publish/published-before.ts";
import { trustFor } from "../../host/servers/load-options.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { pluralize } from "../output/amounts.ts";

/** nexus api diff capcorn */
export const apiDiff = defineCommand({
  usage: "nexus api diff <api> [--quotes]",
  description: `
Shows the changes between the approved version and the current file by kind: effects raised, endpoints added, secrets used,
inputs narrowed, fields removed, descriptions changed. The most important changes come first. Every difference in a text and
every entry of a list is shown; only long quotes of API descriptions are shortened (--quotes shows them). With --json, each change has the complete old and new values.
An approval by another person counts as new for you, unless you use --trust. If a version of the API is published, the kind of
the change since then is shown: breaking, widened or wording.
Exit code 0: no changes; 8: approval needed.`,
  options: { ...QUOTES, ...TENANT },
  examples: [
    ["nexus api diff capcorn", "compare with the approval in api/capcorn/capcorn.nexus.lock"],
    ["nexus api diff capcorn --json --trust", "check in a pipeline that the lock matches the file"],
  ],

  async run(context) {
    const { options, out, surroundings, stateFolder, flags } = context;
    const [given = ""] = context.words;
    const found = await loadSound(given, out, surroundings.home);
    const lock = await ownLock(found, trustFor({ surroundings, stateFolder, trust: flags.trust }));
    const loaded = lock ? found : inNewestFormat(found);
    const { api, path, again, documents } = loaded;
    const changes = differences(lock?.compiled, api, documents);
    const approved = isApproved(lock, api);
    const exit = approved ? 0 : 8;
    const published = await publishedBefore(context, api);
    if (out.json) {
      out.value({
        file: path,
        approved,
        from: lock?.compiled.hash,
        to: api.hash,
        changes,
        ...(published ? { published } : {}),
      });
      return exit;
    }
    if (changes.length > 0) {
      out.line(lock ? `${pluralize(changes.length, "change")} since the approval` : "New:");
      showChanges(out, changes, { all: options.quotes });
      out.line();
    }
    if (published) out.line(publishedText(published));
    const text = approvalText(api, loaded.lock, { name: again, isMine: lock !== undefined });
    if (approved || !lock) out.line(`${approved ? "No changes. " : ""}${text}`);
    else out.advice(`To approve: nexus api approve ${again}`);
    return exit;
  },
});
