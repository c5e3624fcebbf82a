import type { Client } from "../../client/client.ts";
import type { Era } from "../../protocol/revisions.ts";
import { LEGACY_REVISIONS, MODERN_REVISIONS } from "../../protocol/revisions.ts";
import { FindingDraft, type Finding } from "./check.ts";

export interface Meeting {
  /** The era that was remembered before this detection. */
  remembered: Era | undefined;
  /** How often its process was started. */
  starts: number;
}

const FOUND: Record<Client["verdict"]["how"], string> = {
  probed: "detected",
  given: "as remembered",
  pinned: "as configured",
};

/** The revision in use, and how it was detected. */
export function protocolFinding(
  { protocolVersion, era, verdict, serverInfo }: Client,
  { remembered, starts }: Meeting,
): Finding {
  const draft = new FindingDraft();
  const who = serverInfo ? `${serverInfo.name} ${serverInfo.version}: ` : "";
  draft.add("ok", `${who}revision ${protocolVersion} (${era}), ${FOUND[verdict.how]}`);
  if (!serverInfo)
    draft.add("note", "the server does not send its name", "The server's author should send serverInfo.");
  if (remembered !== undefined && remembered !== era) {
    draft.add("note", `remembered as ${remembered} before; now remembered as ${era}`);
  }
  if (starts > 1) {
    draft.add(
      "note",
      `its process exited after the first request and was started ${starts} times`,
      "The server's author should answer unknown methods with an error. Until then, every first start takes longer.",
    );
  }
  const newestLegacy = LEGACY_REVISIONS[0];
  if (era === "legacy" && protocolVersion < newestLegacy) {
    const newer = [...MODERN_REVISIONS, newestLegacy].join(" and ");
    draft.add("note", `older than ${newer}`, "Update the server if a newer version exists.");
  }
  return draft.finding();
}
