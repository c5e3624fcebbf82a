import { realpathSync } from "node:fs";
import { isFolder } from "../../files/paths.ts";
import { maskCommand, withoutDefaults } from "../../text/mask-secrets.ts";
import { isRecord } from "../../json/is-record.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { findProgram } from "../../process/find-program.ts";
import type { StdioReach } from "../../transport/server-entry.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { ok, type Finding } from "./check.ts";

/** The file of the command. If it cannot be found, starting it reports more. */
export function commandFinding(reach: StdioReach, { variables, platform }: Surroundings, written: unknown): Finding {
  const { cwd, env, passthrough } = reach;
  const filled = variableText(written, ["command"]);
  const command = filled ?? maskCommand(reach.command);
  const file = findProgram(reach.command, {
    env: childEnvironment({ variables, platform, env, passthrough }),
    platform,
    cwd,
  });
  if (file === undefined) return { verdict: "warning", evidence: [`${command}: program not found`] };
  if (filled !== undefined) return ok(`${filled} is an executable`);
  const what = file === command ? command : `${command} is ${file}`;
  return ok(isOurNode(file) ? `${what} (Node.js ${process.version}, the same as Nexus uses)` : what);
}

export function folderFinding({ cwd }: StdioReach, written: unknown): Finding {
  if (cwd === undefined) return ok(`${process.cwd()} (where Nexus was started)`);
  const isNamed = isRecord(written) && (written["cwd"] ?? written["workdir"]) !== undefined;
  const shown = isNamed ? (variableText(written, ["cwd", "workdir"]) ?? cwd) : `${cwd} (the entry has no "cwd")`;
  return isFolder(cwd) ? ok(shown) : { verdict: "warning", evidence: [`${shown} is not a folder`] };
}

/** The variables in a part of an entry, without their values, which may be secret. */
function variableText(written: unknown, names: readonly string[]): string | undefined {
  const found = isRecord(written) ? names.map((name) => [written[name]].flat()[0]) : [];
  const text = found.find((value) => typeof value === "string");
  return text?.includes("${") ? withoutDefaults(text) : undefined;
}

function isOurNode(file: string): boolean {
  try {
    return realpathSync(file) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
