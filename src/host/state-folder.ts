import { join } from "node:path";
import type { Surroundings } from "../transport/surroundings.ts";

/** Where a host keeps what it may lose: logs of servers, eras, what it started. */
export function defaultStateFolder({ platform, home, variables }: Surroundings): string {
  if (platform === "win32") return join(variables["LOCALAPPDATA"] ?? join(home, "AppData", "Local"), "nexus");
  if (platform === "darwin") return join(home, "Library", "Application Support", "nexus");
  return join(variables["XDG_STATE_HOME"] ?? join(home, ".local", "state"), "nexus");
}
