import { loadSection } from "./load-section.ts";
import { networkRules } from "./network-settings.ts";
import type { ConfigContext } from "./read/places.ts";
import type { ServerDefinition } from "./read/server-definition.ts";

/**
 * The certificate authorities of "network" for a server on the command line, which needs no configuration: what cannot be read
 * of it has no effect. Its rules about addresses have none either, because a person named the address.
 */
export async function trustAuthorities(
  { entry }: ServerDefinition,
  context: ConfigContext,
  explicit: string | undefined,
): Promise<void> {
  if (!entry || entry.reach.kind === "stdio") return;
  try {
    const rules = networkRules(await loadSection("network", context, explicit), context.home);
    if (rules?.caFiles?.length) entry.network = { ...entry.network, caFiles: rules.caFiles };
  } catch {
    // The commands that need the configuration report it.
  }
}
