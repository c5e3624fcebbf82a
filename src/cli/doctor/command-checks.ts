import { realpathSync, statSync } from "node:fs";
import { childEnvironment } from "../../transport/child-environment.ts";
import type { StdioReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { ok, type Finding } from "./check.ts";
import { findProgram } from "./find-program.ts";

/** Which file the command is. That it cannot be found is proved by starting it, which says more. */
export function commandFinding(reach: StdioReach, { variables, platform }: Surroundings): Finding {
  const { command, cwd, env, passthrough } = reach;
  const file = findProgram(command, {
    env: childEnvironment({ variables, platform, env, passthrough }),
    platform,
    cwd,
  });
  if (file === undefined) return { verdict: "warning", evidence: [`${command}: no program of that name was found`] };
  const what = file === command ? command : `${command} is ${file}`;
  return ok(isOurNode(file) ? `${what} (Node.js ${process.version}, which Nexus runs on, too)` : what);
}

export function folderFinding({ cwd }: StdioReach): Finding {
  if (cwd === undefined) return ok(`${process.cwd()} (the one Nexus was started in)`);
  return isFolder(cwd) ? ok(cwd) : { verdict: "warning", evidence: [`${cwd} is no folder`] };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isOurNode(file: string): boolean {
  try {
    return realpathSync(file) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
