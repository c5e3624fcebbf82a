import type { Store } from "../../store/store.ts";
import type { CommandContext } from "../command/command.ts";
import { chosenStore } from "./chosen-database.ts";

type StoreContext = CommandContext<{ readonly database?: string | undefined }>;

/** Opens the store that a command line is about, and creates it if there is none. */
export async function openStore(context: StoreContext): Promise<Store> {
  return open(context, true);
}

/** The same for commands that add nothing: a chosen database without a store is most likely a mistyped address. */
export async function openKnownStore(context: StoreContext): Promise<Store> {
  return open(context, false);
}

async function open(context: StoreContext, mayCreate: boolean): Promise<Store> {
  const [chosen, { Store: Opened }] = await Promise.all([chosenStore(context), import("../../store/store.ts")]);
  return Opened.open({ ...chosen, create: mayCreate || chosen.isDefault });
}
