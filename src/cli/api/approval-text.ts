import { visible } from "../../text/visible.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { isApproved, type Lock } from "../../workshop/review/lock.ts";

interface ApprovalTextOptions {
  /** The name for further commands. */
  name: string;
  /** Whether this user has accepted the lock. */
  isMine: boolean;
}

/** Whether it is served, and if not, what to do. */
export function approvalText(api: CompiledApi, lock: Lock | undefined, { name, isMine }: ApprovalTextOptions): string {
  const approval = lock?.approvals.at(-1);
  if (!approval) return `Not approved. To serve it, run "nexus api approve ${name}".`;
  const who = visible(`by ${approval.by} on ${approval.at.slice(0, 10)}`);
  if (isApproved(lock, api) && isMine) {
    const renewed =
      api.format === 1 ? `. Format 1, without the texts of the fake; "nexus api approve ${name}" renews it` : "";
    return `Approved ${who}: ${api.hash.slice(0, 19)}…${renewed}`;
  }
  if (isApproved(lock, api)) {
    return `Approved ${who}, but not by you. To serve it, run "nexus api approve ${name}".`;
  }
  return `Changed since it was approved ${who}, so it is not served. "nexus api diff ${name}" shows the changes.`;
}
