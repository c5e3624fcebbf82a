import { visible } from "../../text/visible.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import type { ApiChange } from "../../workshop/review/api-change.ts";
import type { Lock } from "../../workshop/review/lock.ts";
import type { Output } from "../output/output.ts";
import { pluralize } from "../output/amounts.ts";
import { showChanges } from "./change-rows.ts";
import { neededSecrets } from "../../workshop/file/model/secret-names.ts";

interface ForApproval {
  api: CompiledApi;
  /** What this user approved before. */
  lock: Lock | undefined;
  /** All differences from that. */
  changes: readonly ApiChange[];
  /** Whether long quotes are shown. */
  quotes: boolean | undefined;
}

/** Details first and the summary last, so that it is on the screen when the question comes. */
export function showForApproval(out: Output, { api, lock, changes, quotes }: ForApproval): void {
  const { title, version, upstream } = api.file;
  out.line(lock ? "Changes since the last approval" : visible(`${title} ${version}, new`));
  showChanges(out, changes, { all: quotes });
  out.line();
  out.line(`${pluralize(changes.length, "change")}: ${countsOf(changes)}`);
  for (const { kind, path, message } of changes) {
    if (kind === "tool added") out.line(`  ${kind}  ${visible(`${path}: ${message}`)}`);
  }
  out.line(visible(`  requests go to ${upstream.allow.join(", ")}`));
  const secrets = neededSecrets(api.file);
  if (secrets.length > 0) out.line(visible(`  secrets used: ${secrets.join(", ")}`));
  out.line();
}

/** `2 × tool added, 1 × description changed`, the most important first. */
function countsOf(changes: readonly ApiChange[]): string {
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  return kinds.map((kind) => `${changes.filter((change) => change.kind === kind).length} × ${kind}`).join(", ");
}
