import type { OperatedAudit } from "../../team/operate/audit-operations.ts";
import { DATABASE_OPTION, type CommandContext, type Options } from "../command/command.ts";
import { openKnownStore } from "./open-store.ts";
import { gatewayOptions } from "./operated-store.ts";

/** In commands about the audit, --key selects records. */
export const AUDITED_OPTIONS = {
  gateway: {
    type: "string",
    value: "URL",
    help: "use that of this gateway, through its REST API and with the key in NEXUS_KEY, instead of a database",
  },
  ...DATABASE_OPTION,
} as const satisfies Options;

type AuditContext = CommandContext<{
  readonly gateway?: string | undefined;
  readonly database?: string | undefined;
}>;

/** Opens the audit that a command line is about, here or behind a gateway. */
export async function openAudit(context: AuditContext): Promise<OperatedAudit> {
  const { gateway, database } = context.options;
  if (gateway !== undefined) {
    const { RemoteAudit } = await import("../../rest/remote/remote-audit.ts");
    return new RemoteAudit(await gatewayOptions(context, { gateway, database }));
  }
  const { AuditOperations } = await import("../../team/operate/audit-operations.ts");
  return new AuditOperations(await openKnownStore(context));
}
