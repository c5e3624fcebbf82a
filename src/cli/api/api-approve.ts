import { userInfo } from "node:os";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { differences } from "../../workshop/review/differences.ts";
import { trustStore } from "../../host/servers/load-options.ts";
import { lockPath } from "../../config/read/lock-path.ts";
import { accept } from "../../workshop/acceptance.ts";
import { approve, isApproved } from "../../workshop/review/lock.ts";
import { loadNamed, loadSound, ownLock, type NamedApi } from "./loaded.ts";
import { showForApproval } from "./show-for-approval.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Output } from "../output/output.ts";

/** nexus api approve capcorn */
export const apiApprove = defineCommand({
  usage: "nexus api approve <api> [--by NAME] [--hash HASH] [--yes]",
  description: `
Shows everything that would be served and was not approved yet, asks, and writes the approval into <api>.nexus.lock, with who
and when. What is approved is the hash of everything that is compiled: any change of the file has to be approved again. A file
that changes while you look at it is not approved.

That you have approved it is also remembered for your account. A lock that others wrote is not enough to serve a file to you: of
such a file everything is shown, and the lock stays as it is.`,
  words: { min: 1, max: 1 },
  options: {
    by: { type: "string", value: "NAME", help: "who approves; the name of your account unless given" },
    hash: { type: "string", value: "HASH", help: `approve only this: "to" of "nexus api diff --json"` },
    yes: { type: "boolean", short: "y", help: "do not ask" },
  },
  examples: [
    ["nexus api approve capcorn", "shows the differences, and asks"],
    ['nexus api approve capcorn --by "Ada, API team" --yes --hash sha256:…', "for a pipeline, after a review"],
  ],

  async run({ words: [given = ""], options, out, signal, surroundings, stateFolder }) {
    const loaded = await loadSound(given, out, surroundings.home);
    const { api, path, shown, again } = loaded;
    const trust = trustStore(surroundings, stateFolder);
    const lock = await ownLock(loaded, trust);
    const by = (options.by ?? accountName()).trim();
    if (by === "") throw wrongUsage("Nobody is named", 'Say who approves: --by "Ada, API team".');
    if (options.hash !== undefined && options.hash !== api.hash) throw notReviewed(shown, api.hash, options.hash);
    if (isApproved(lock, api)) {
      if (out.json) out.value({ file: path, approval: lock?.approvals.at(-1), changes: [] });
      else out.line("Approved already, exactly as it is.");
      return 0;
    }
    const changes = differences(lock?.compiled, api, loaded.documents);
    if (!out.json) showForApproval(out, { api, lock, changes });
    if (!options.yes && !(await isAgreed(loaded, out, signal))) {
      out.line("Nothing was approved.");
      return 8;
    }
    await requireUnchanged(given, loaded, surroundings.home);
    const others = isApproved(loaded.lock, api) ? loaded.lock?.approvals.at(-1) : undefined;
    const approval = others ?? (await approve(path, api, { by, at: new Date() }));
    await accept(path, api, trust);
    if (out.json) out.value({ file: path, approval, changes });
    else {
      const where = others ? `for you; ${visible(others.by)} had approved it before,` : `by ${visible(by)}:`;
      out.line(`Approved ${where} ${approval.hash.slice(0, 19)}… in ${lockPath(shown)}`);
    }
    if (!out.json && !lock) out.line(`To have it served: nexus mcp add ${api.file.api} --api ${again}`);
    return 0;
  },
});

type Shown = Pick<NamedApi, "lock" | "again" | "shown"> & { api: CompiledApi };

/** What is approved is what was shown: a file or a lock that became another one meanwhile was not. */
async function requireUnchanged(given: string, { api, lock, shown }: Shown, home: string): Promise<void> {
  const now = await loadNamed(given, home);
  if (now.api?.hash === api.hash && now.lock?.compiled.hash === lock?.compiled.hash) return;
  throw new NexusError("UNTRUSTED", `${shown} or its lock has changed since it was shown. Nothing was approved`, {
    hint: "Give the command again, and look at it again.",
    mayHaveReached: false,
  });
}

function notReviewed(shown: string, is: string, reviewed: string): NexusError {
  return new NexusError("UNTRUSTED", `${shown} is not what was reviewed: it has the hash ${is}, not ${reviewed}`, {
    hint: "Look at it as it is now: nexus api diff.",
    mayHaveReached: false,
  });
}

async function isAgreed({ api, again }: Shown, out: Output, signal: AbortSignal): Promise<boolean> {
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", "Whether this is approved has to be answered, and there is no terminal", {
      hint: `Look at it ("nexus api diff ${again}"), then give --yes --hash ${api.hash}`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../output/terminal-questions.ts");
  return /^y(?:es)?$/i.test((await askFor(out, { text: "Approve this? y/N", signal })).trim());
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
