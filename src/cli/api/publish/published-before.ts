import { DEFAULT_TENANT } from "../../../auth/server-instance.ts";
import { messageOf } from "../../../errors/nexus-error.ts";
import type { CompiledApi } from "../../../workshop/compile/compile.ts";
import type { VersionChange } from "../../../workshop/publish/version-change.ts";
import { nextVersion } from "../../../workshop/publish/version-number.ts";
import type { CommandContext } from "../../command/command.ts";
import { chosenStore } from "../../store/chosen-database.ts";
import { changeText } from "./change-text.ts";

type ReviewContext = CommandContext<{
  readonly tenant?: string | undefined;
  readonly database?: string | undefined;
}>;

/** How a file differs from the highest version that is published. */
interface PublishedBefore extends VersionChange {
  since: string;
  /** The lowest number that the file can be published with. */
  next: string;
}

/**
 * Compares a file with what is published on this machine's store; undefined if nothing is. A store that cannot be read does
 * not prevent a review.
 */
export async function publishedBefore(context: ReviewContext, api: CompiledApi): Promise<PublishedBefore | undefined> {
  try {
    return await compared(context, api);
  } catch (error) {
    context.out.note(`What is published is not known: ${messageOf(error)}`);
    return undefined;
  }
}

async function compared(context: ReviewContext, api: CompiledApi): Promise<PublishedBefore | undefined> {
  const chosen = await chosenStore(context);
  const { isMissingFile } = await import("../../../store/engine/database-address.ts");
  if (isMissingFile(chosen.address)) return undefined;
  const [{ Store }, { changeBetween }] = await Promise.all([
    import("../../../store/store.ts"),
    import("../../../workshop/publish/version-change.ts"),
  ]);
  await using store = await Store.open({ ...chosen, create: false });
  const apis = store.apis(context.options.tenant ?? DEFAULT_TENANT);
  const newest = (await apis.records(api.file.api)).findLast(({ state }) => state === "published");
  const before = newest && (await apis.version(newest.api, newest.version));
  if (!before) return undefined;
  const change = changeBetween(before.compiled, api);
  const next = change.kind === "none" ? before.version : nextVersion(before.version, change.kind);
  return { ...change, since: before.version, next };
}

/** What publishing it would mean, in one line. */
export function publishedText({ kind, since, next, changes }: PublishedBefore): string {
  if (kind === "none") return `Published as version ${since}.`;
  const as = kind === "breaking" ? `, so it needs a new major version: --as ${next}` : `; it would be version ${next}`;
  return `Compared with version ${since}, which is published: ${changeText(kind, since, changes)}${as}.`;
}
