import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { maskedCommand, maskedWords } from "../text/masked-secrets.ts";
import { nearNames } from "../text/nearest-name.ts";
import { messageOf, NexusError, type ErrorCode, type ErrorDetails } from "../errors/nexus-error.ts";
import { howToInstall, otherNames } from "./known-programs.ts";
import { programsOnPath } from "./programs-on-path.ts";

export interface Start {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  env: Record<string, string>;
  platform: NodeJS.Platform;
}

/** What starts a script that is no program by itself. */
const INTERPRETERS: Record<string, string> = {
  js: "node",
  mjs: "node",
  cjs: "node",
  ts: "node",
  py: "python3",
  sh: "sh",
  rb: "ruby",
};

/** Why a process could not be started, with what is found on the disk about it. */
export function startFailure(error: unknown, start: Start): NexusError {
  const { cwd } = start;
  const command = maskedCommand(start.command);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const failure = (kind: ErrorCode, message: string, details: ErrorDetails) =>
    new NexusError(kind, message, { cause: error, phase: "start", mayHaveReached: false, ...details });
  if (cwd !== undefined && !isFolder(cwd)) {
    return failure("CONFIG_INVALID", `The working folder ${cwd} does not exist`, {
      hint: `Create it, or correct "cwd" in the server's entry.`,
    });
  }
  if (code === "ENOENT") return failure("COMMAND_NOT_FOUND", `Command not found: ${command}`, notFound(start));
  if (code === "EACCES" || code === "EPERM") {
    return failure("PERMISSION_DENIED", `Not allowed to run ${command}`, notAllowed(start));
  }
  if (code === "ENOEXEC" || code === "UNKNOWN") {
    return failure("CONNECTION_FAILED", `${command} is no program that this system can run`, {
      ...throughInterpreter(start),
      likelyCause: "It is a script without a first line such as #!/usr/bin/env node, or made for another system.",
    });
  }
  return failure("CONNECTION_FAILED", `Could not start ${command}: ${messageOf(error)}`, {});
}

function notFound(start: Start): ErrorDetails {
  const { command, args, platform } = start;
  if (/\s/.test(command)) {
    const [program = "", ...rest] = command.trim().split(/\s+/);
    return {
      likelyCause: `"command" holds the arguments, too.`,
      hint: `Put its arguments in "args".`,
      snippet: entry(program, [...rest, ...args]),
    };
  }
  if (/[/\\]/.test(command)) return notAtPath(start);
  const install = howToInstall(command, platform);
  const near = nearby(start);
  const look = platform === "win32" ? `"where ${command}"` : `"command -v ${command}"`;
  return {
    likelyCause:
      near.length > 0 ? `It is misspelt, or not on the server's PATH; near it there: ${near.join(", ")}.` : undefined,
    hint: [
      install ? `Install it (${install}), or give its full path.` : "Install it, or give its full path.",
      `${look} in a terminal shows where it is, if it is.`,
      ...(platform === "win32" ? [`Programs of npm end in .cmd on Windows: "${command}.cmd".`] : []),
    ].join(" "),
    snippet: near[0] === undefined ? undefined : entry(near[0], args),
  };
}

/** What is on PATH and may have been meant. */
function nearby({ command, env, platform }: Start): string[] {
  const programs = programsOnPath({ env, platform });
  const others = otherNames(command).filter((name) => programs.includes(name));
  return [...new Set([...others, ...nearNames(command, programs, 3)])].filter((name) => name !== command).slice(0, 3);
}

/** A path was given: either nothing is there, or what is there names an interpreter that is not. */
function notAtPath({ command, cwd }: Start): ErrorDetails {
  const interpreter = firstLine(resolve(cwd ?? ".", command))?.match(/^#!\s*(\S+)/)?.[1];
  if (interpreter !== undefined) {
    return {
      likelyCause: `The file is there, but ${interpreter}, which its first line names, is not.`,
      hint: "Install that interpreter, or start the file through another one.",
    };
  }
  const where = cwd === undefined ? "the folder that Nexus was started in" : `the folder it runs in, ${cwd}`;
  return {
    likelyCause: "Nothing is at this path.",
    hint: `Correct it, or give the full path; a relative one starts at ${where}.`,
  };
}

function notAllowed(start: Start): ErrorDetails {
  const { command, cwd, platform } = start;
  if (isFolder(resolve(cwd ?? ".", command))) {
    return { likelyCause: "It is a folder, not a program.", hint: `Name the program inside it in "command".` };
  }
  const through = throughInterpreter(start);
  const allow = platform === "win32" ? "Unblock it in its properties" : `Make it executable (chmod +x ${command})`;
  return {
    likelyCause:
      platform === "win32" ? "Windows or a virus scanner blocks it." : "The file is not marked as executable.",
    hint: through.snippet ? `${allow}, or start it through its interpreter.` : `${allow}, or check who may run it.`,
    snippet: through.snippet,
  };
}

function throughInterpreter({ command, args }: Start): ErrorDetails {
  const interpreter = INTERPRETERS[command.split(".").at(-1) ?? ""];
  if (interpreter === undefined) return { hint: "Check that it was built for this system." };
  return { hint: "Start it through its interpreter.", snippet: entry(interpreter, [command, ...args]) };
}

function entry(command: string, args: readonly string[]): string {
  return `"command": ${JSON.stringify(command)}, "args": [${maskedWords(args)
    .map((text) => JSON.stringify(text))
    .join(", ")}]`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function firstLine(path: string): string | undefined {
  try {
    // Opening a pipe would wait until somebody writes into it.
    if (!statSync(path).isFile()) return undefined;
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(256);
      return start.toString("utf8", 0, readSync(file, start)).split(/\r?\n/, 1)[0];
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
