import { userInfo } from "node:os";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { differences } from "../../workshop/review/differences.ts";
import { trustStore } from "../../host/servers/load-options.ts";
import { lockPath } from "../../config/read/lock-path.ts";
import { accept } from "../../workshop/acceptance.ts";
import { openAddresses } from "../../workshop/file/model/open-addresses.ts";
import { approve, isApproved } from "../../workshop/review/lock.ts";
import { inNewestFormat, loadNamed, loadSound, openQuestions, ownLock, type NamedApi } from "./loaded.ts";
import { QUOTES } from "./change-rows.ts";
import { publishedBefore, publishedText } from "./publish/published-before.ts";
import { showForApproval } from "./show-for-approval.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Output } from "../output/output.ts";

/** Of an approver. It is kept with every version, and gateways accept no more. */
const MAX_NAME = 200;

/** nexus api approve capcorn */
export const apiApprove = defineCommand({
  usage: "nexus api approve <api> [--by NAME] [--hash HASH] [--quotes] [--yes]",
  description: `
Shows everything that is new or changed since the last approval, asks for confirmation, and writes the approval with name and
date to <api>.nexus.lock. The approval covers a hash of the compiled file, so every change must be approved again. If the
file changes while you review it, nothing is approved. The texts of the fake are part of it, because models see them where an
API is served with its fake. An approval of an older Nexus (format 1) does not cover them; it counts as long as the file is
unchanged, and approving again renews it.

Nexus also remembers the approval for your user account. A lock that another person wrote does not count for you: the whole
file is shown, and the lock is not changed.`,
  options: {
    by: { type: "string", value: "NAME", help: "name of the approver; default: your account name" },
    hash: {
      type: "string",
      value: "HASH",
      help: `approve only this hash: "to" in the output of "nexus api diff --json"`,
    },
    ...QUOTES,
    yes: { type: "boolean", short: "y", help: "approve without asking" },
    ...TENANT,
  },
  examples: [
    ["nexus api approve capcorn", "show the changes and ask"],
    ['nexus api approve capcorn --by "Ada, API team" --yes --hash sha256:…', "approve a reviewed hash in a pipeline"],
  ],

  async run(context) {
    const { options, out, signal, surroundings, stateFolder } = context;
    const [given = ""] = context.words;
    const found = await loadSound(given, out, surroundings.home);
    const trust = trustStore(surroundings, stateFolder);
    const lock = await ownLock(found, trust);
    // A pipeline may give the hash of what is approved already.
    const loaded = lock && options.hash === found.api.hash ? found : inNewestFormat(found);
    const { api, path, shown, again } = loaded;
    requireAddress(loaded);
    const by = (options.by ?? accountName()).trim();
    if (by === "") throw wrongUsage("The approver has no name", 'Add --by "Ada, API team".');
    if (by.length > MAX_NAME || visible(by) !== by) {
      const why = by.length > MAX_NAME ? `is longer than ${MAX_NAME} characters` : "has invisible characters";
      throw wrongUsage(`The name of the approver ${why}`, 'Use one line, as in --by "Ada, API team".');
    }
    if (options.hash !== undefined && options.hash !== api.hash) throw notReviewed(shown, api.hash, options.hash);
    if (isApproved(lock, api)) {
      if (out.json) out.value({ file: path, approval: lock?.approvals.at(-1), changes: [] });
      else out.line("This version is already approved.");
      return 0;
    }
    const changes = differences(lock?.compiled, api, loaded.documents);
    const published = await publishedBefore(context, api);
    if (!out.json) showForApproval(out, { api, lock, changes, quotes: options.quotes });
    if (!out.json && published) out.line(publishedText(published));
    const open = openQuestions(loaded);
    if (!out.json && open !== undefined) out.advice(open);
    if (!options.yes && !(await isAgreed(loaded, out, signal))) {
      out.line("Nothing was approved.");
      return 8;
    }
    await requireUnchanged(given, loaded, surroundings.home);
    const others = isApproved(loaded.lock, api) ? loaded.lock?.approvals.at(-1) : undefined;
    const approval = others ?? (await approve(path, api, { by, at: new Date(), documents: loaded.documents }));
    await accept(path, api, trust);
    if (out.json) out.value({ file: path, approval, changes, ...(published ? { published } : {}) });
    else {
      const where = others ? `for you (${visible(others.by)} approved it before):` : `by ${visible(by)}:`;
      out.line(`Approved ${where} ${approval.hash.slice(0, 19)}… in ${lockPath(shown)}`);
    }
    if (!out.json && published && published.kind !== "none") {
      const as = published.kind === "breaking" ? ` --as ${published.next}` : "";
      out.advice(`To publish it: nexus api publish ${again}${as}`);
    }
    if (!out.json && !lock) out.advice(`To serve it: nexus mcp add ${api.file.api} --api ${again}`);
    return 0;
  },
});

type Shown = Pick<NamedApi, "lock" | "again" | "shown"> & { api: CompiledApi };

/** Approves only what was shown: throws if the file or the lock has changed in the meantime. */
async function requireUnchanged(given: string, { api, lock, shown }: Shown, home: string): Promise<void> {
  const now = await loadNamed(given, home);
  const isSame =
    now.api?.hash === api.hash || (now.api && inNewestFormat({ ...now, api: now.api }).api.hash === api.hash);
  if (isSame && now.lock?.compiled.hash === lock?.compiled.hash) return;
  throw new NexusError("UNTRUSTED", `${shown} or its lock changed during the review. Nothing was approved`, {
    hint: "Run the command again and review the new content.",
    mayHaveReached: false,
  });
}

/** Nothing can be sent to an address that is not complete, and nobody can have reviewed where credentials go. */
function requireAddress({ shown, again, file }: Pick<NamedApi, "again" | "file" | "shown">): void {
  const [open, ...more] = file ? openAddresses(file) : [];
  if (!open) return;
  const { path, address, placeholder } = open;
  const asked = (file?.questions ?? []).findIndex(({ about }) => about === path) + 1;
  const command = `nexus api questions ${again} --answer ${asked}=https://…`;
  const others = more.length === 0 ? "" : `, and ${more.length} more`;
  const why =
    placeholder === undefined
      ? `${shown} has no address of the API yet: ${path} is ${visible(address)}${others}`
      : `${shown} has an address with a part to fill in, ${visible(placeholder)}: ${path} is ${visible(address)}${others}`;
  const isAsked = asked > 0 && path === "upstream.base";
  throw new NexusError("CONFIG_INVALID", why, {
    phase: "config",
    hint: `${isAsked ? `Give it with "${command}"` : `Write the whole address to ${path} in ${shown}`}, then approve it.`,
    mayHaveReached: false,
  });
}

function notReviewed(shown: string, is: string, reviewed: string): NexusError {
  return new NexusError("UNTRUSTED", `${shown} is not the reviewed version: its hash is ${is}, not ${reviewed}`, {
    hint: "Review the current version: nexus api diff.",
    mayHaveReached: false,
  });
}

async function isAgreed({ api, again }: Shown, out: Output, signal: AbortSignal): Promise<boolean> {
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", "The approval needs a confirmation, and there is no terminal", {
      hint: `Review it with "nexus api diff ${again}", then add --yes --hash ${api.hash}`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../output/terminal-questions.ts");
  return /^y(?:es)?$/i.test((await askFor(out, { text: "Approve this? y/N", signal })).trim());
}

/** The name of the account, for approvals and publications; empty if there is none. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
