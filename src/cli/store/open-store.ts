import type { Store } from "../../store/store.ts";
import type { CommandContext } from "../command/command.ts";
import { chosenStore } from "./chosen-database.ts";

/** Opens the store that a command line is about, and creates it if there is none. */
export async function openStore(context: CommandContext<{ readonly database?: string | undefined }>): Promise<Store> {
  const chosen = await chosenStore(context);
  const { Store: Opened } = await import("../../store/store.ts");
  return Opened.open(chosen);
}
