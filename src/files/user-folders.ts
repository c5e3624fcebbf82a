import { posix, win32 } from "node:path";
import { isAbsolutePath } from "./paths.ts";
import { NexusError } from "../errors/nexus-error.ts";

/** What the user's folders depend on. */
interface Machine {
  platform: NodeJS.Platform;
  home: string;
  variables: Readonly<Record<string, string | undefined>>;
}

/** Where the user's own files are, as absolute paths. */
interface UserFolders {
  home: string;
  /** Settings of programs, each in a folder of its own. */
  config: string;
  /** The data of Nexus itself: logs of servers, trust, secrets, recorded writes. */
  state: string;
}

/**
 * The user's folders. A variable that is not an absolute path is ignored, as the XDG specification requires: it would
 * be relative to the working folder, whose files may come from others.
 */
export function userFolders({ platform, home, variables }: Machine): UserFolders {
  const path = platform === "win32" ? win32 : posix;
  const named = (variable: string, ...fallback: string[]) => {
    const { [variable]: value } = variables;
    return isAbsolutePath(value, platform) ? value : path.join(home, ...fallback);
  };
  if (platform === "win32") {
    const state = path.join(named("LOCALAPPDATA", "AppData", "Local"), "nexus");
    return { home, config: named("APPDATA", "AppData", "Roaming"), state };
  }
  const config = named("XDG_CONFIG_HOME", ".config");
  if (platform === "darwin") return { home, config, state: path.join(home, "Library", "Application Support", "nexus") };
  return { home, config, state: path.join(named("XDG_STATE_HOME", ".local", "state"), "nexus") };
}

/**
 * The home folder from its variable or the account. Throws if neither is valid: a guess would be the working folder.
 */
export function homeFolder({ platform, variables }: Omit<Machine, "home">, ofAccount: () => string): string {
  const variable = platform === "win32" ? "USERPROFILE" : "HOME";
  const { [variable]: named } = variables;
  if (isAbsolutePath(named, platform)) return named;
  const known = knownHome(ofAccount);
  if (isAbsolutePath(known, platform)) return known;
  throw new NexusError("CONFIG_INVALID", `The home folder is unknown: ${variable} is not an absolute path`, {
    phase: "config",
    hint: `Set ${variable} to the full path of your home folder.`,
    mayHaveReached: false,
  });
}

/** Node throws for an account that the system does not know. */
function knownHome(ofAccount: () => string): string | undefined {
  try {
    return ofAccount();
  } catch {
    return undefined;
  }
}
