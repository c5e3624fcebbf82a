import { recordedWrites, type ServerWrites } from "../../workshop/run/writes/unknown-writes.ts";
import type { CommandContext } from "../command/command.ts";
import type { TenantState } from "../store/tenant-state.ts";

/** The recorded writes of a tenant: in the store, or in the user's files. */
export async function writesOf(
  state: TenantState,
  { surroundings, stateFolder }: Pick<CommandContext, "surroundings" | "stateFolder">,
): Promise<ServerWrites[]> {
  const store = await state.findStore();
  return store ? store.recordedWrites(state.tenant) : recordedWrites(stateFolder, surroundings.platform);
}
