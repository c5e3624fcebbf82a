import { closeSync, openSync, readSync, statSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { isFolder } from "../files/paths.ts";
import { maskCommand, maskWords } from "../text/mask-secrets.ts";
import { nearNames } from "../text/nearest-name.ts";
import { splitCommandLine } from "../text/shell-words.ts";
import { messageOf, NexusError, type ErrorCode, type ErrorDetails } from "../errors/nexus-error.ts";
import { foldersOf } from "./find-program.ts";

interface Start {
  command: string;
  args: readonly string[];
  cwd?: string | undefined;
  env: Record<string, string>;
  platform: NodeJS.Platform;
}

/** The interpreters of scripts that are not executable themselves. */
const INTERPRETERS: Record<string, string> = {
  js: "node",
  mjs: "node",
  cjs: "node",
  ts: "node",
  py: "python3",
  sh: "sh",
  rb: "ruby",
};

/** Why a process could not be started, with facts from the disk. */
export function startFailure(error: unknown, start: Start): NexusError {
  const { cwd } = start;
  const command = maskCommand(start.command);
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
    return failure("CONNECTION_FAILED", `${command} is not a program that this system can run`, {
      ...throughInterpreter(start),
      likelyCause:
        "It is a script without a first line such as #!/usr/bin/env node, or it was built for another system.",
    });
  }
  return failure("CONNECTION_FAILED", `Could not start ${command}: ${messageOf(error)}`, {});
}

function notFound(start: Start): ErrorDetails {
  const { command, args, platform } = start;
  if (/\s/.test(command)) {
    const [program = "", ...rest] = splitCommandLine(command, platform);
    return {
      likelyCause: `"command" also contains the arguments.`,
      hint: `Move the arguments to "args".`,
      snippet: entry(program, [...rest, ...args]),
    };
  }
  if (/[/\\]/.test(command)) return notAtPath(start);
  const install = howToInstall(command, platform);
  const near = nearby(start);
  const look = platform === "win32" ? `"where ${command}"` : `"command -v ${command}"`;
  return {
    likelyCause:
      near.length > 0
        ? `The name is misspelled or not on the server's PATH. Similar commands there: ${near.join(", ")}.`
        : undefined,
    hint: [
      install ? `Install it (${install}), or use its full path.` : "Install it, or use its full path.",
      `${look} in a terminal shows whether and where it is installed.`,
      ...(platform === "win32" ? [`On Windows, npm programs end in .cmd: "${command}.cmd".`] : []),
    ].join(" "),
    snippet: near[0] === undefined ? undefined : entry(near[0], args),
  };
}

/** Similar programs on PATH. */
function nearby({ command, env, platform }: Start): string[] {
  const programs = programsOnPath({ env, platform });
  const others = otherNames(command).filter((name) => programs.includes(name));
  return [...new Set([...others, ...nearNames(command, programs, 3)])].filter((name) => name !== command).slice(0, 3);
}

/** For a path: it does not exist, or its first line names an interpreter that does not exist. */
function notAtPath({ command, cwd }: Start): ErrorDetails {
  const interpreter = firstLine(resolve(cwd ?? ".", command))?.match(/^#!\s*(\S+)/)?.[1];
  if (interpreter !== undefined) {
    return {
      likelyCause: `The file exists, but its first line names ${interpreter}, which does not exist.`,
      hint: "Install that interpreter, or start the file with another one.",
    };
  }
  const where = cwd === undefined ? "the folder in which Nexus was started" : `its working folder ${cwd}`;
  return {
    likelyCause: "This path does not exist.",
    hint: `Correct it, or use the full path. Relative paths are resolved from ${where}.`,
  };
}

function notAllowed(start: Start): ErrorDetails {
  const { command, cwd, platform } = start;
  if (isFolder(resolve(cwd ?? ".", command))) {
    return { likelyCause: "This is a folder, not a program.", hint: `Set "command" to the program inside it.` };
  }
  const through = throughInterpreter(start);
  const allow =
    platform === "win32" ? "Unblock it in the file's properties" : `Make it executable (chmod +x ${command})`;
  return {
    likelyCause:
      platform === "win32" ? "Windows or a virus scanner blocks the file." : "The file is not marked as executable.",
    hint: through.snippet ? `${allow}, or start it with its interpreter.` : `${allow}, or check its permissions.`,
    snippet: through.snippet,
  };
}

function throughInterpreter({ command, args }: Start): ErrorDetails {
  const interpreter = INTERPRETERS[command.split(".").at(-1) ?? ""];
  if (interpreter === undefined) return { hint: "Check that it was built for this system." };
  return { hint: "Start it with its interpreter.", snippet: entry(interpreter, [command, ...args]) };
}

function entry(command: string, args: readonly string[]): string {
  return `"command": ${JSON.stringify(command)}, "args": [${maskWords(args)
    .map((text) => JSON.stringify(text))
    .join(", ")}]`;
}

function firstLine(path: string): string | undefined {
  try {
    // Opening a pipe would block until it has a writer.
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

interface SearchPath {
  env: Readonly<Record<string, string>>;
  platform: NodeJS.Platform;
}

const MAX_FOLDERS = 100;

/**
 * The names of programs that can be started without a path. Reads all of PATH, so it is used only after a program was
 * not found.
 */
export function programsOnPath({ env, platform }: SearchPath): string[] {
  const isWindows = platform === "win32";
  const folders = [...new Set(foldersOf(env, platform))].slice(0, MAX_FOLDERS);
  const names = folders.flatMap(namesIn);
  const programs = isWindows ? names.flatMap((name) => withoutEnding(name, env["PATHEXT"])) : names;
  return [...new Set(programs)].sort();
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Folders of PATH that do not exist are common and harmless.
    return [];
  }
}

/** On Windows, "npx.cmd" is called "npx"; files without such an extension are not programs. */
function withoutEnding(name: string, endings = ".COM;.EXE;.BAT;.CMD"): string[] {
  const ending = endings.split(";").find((one) => one !== "" && name.toUpperCase().endsWith(one.toUpperCase()));
  return ending === undefined ? [] : [name.slice(0, -ending.length)];
}

type Ways = Partial<Record<NodeJS.Platform, string>> & { otherwise: string };

/** How to install the programs that usually start servers. */
const WAYS: readonly { programs: readonly string[]; name: string; ways: Ways }[] = [
  {
    programs: ["node", "npx", "npm"],
    name: "Node.js",
    ways: {
      darwin: "brew install node",
      win32: "winget install OpenJS.NodeJS.LTS",
      otherwise: "https://nodejs.org/en/download",
    },
  },
  {
    programs: ["uv", "uvx"],
    name: "uv",
    ways: {
      darwin: "brew install uv",
      win32: "winget install --id=astral-sh.uv -e",
      otherwise: "curl -LsSf https://astral.sh/uv/install.sh | sh",
    },
  },
  {
    programs: ["docker"],
    name: "Docker",
    ways: {
      win32: "winget install Docker.DockerDesktop",
      otherwise: "https://docs.docker.com/get-started/get-docker/",
    },
  },
  {
    programs: ["python", "python3", "py", "pip", "pip3"],
    name: "Python",
    ways: {
      darwin: "brew install python",
      win32: "winget install Python.Python.3.13",
      otherwise: "the system package python3",
    },
  },
  {
    programs: ["pipx"],
    name: "pipx",
    ways: {
      darwin: "brew install pipx",
      win32: "py -m pip install --user pipx",
      otherwise: "the system package pipx",
    },
  },
  {
    programs: ["deno"],
    name: "Deno",
    ways: {
      darwin: "brew install deno",
      win32: "winget install DenoLand.Deno",
      otherwise: "curl -fsSL https://deno.land/install.sh | sh",
    },
  },
  {
    programs: ["bun", "bunx"],
    name: "Bun",
    ways: {
      darwin: "brew install oven-sh/bun/bun",
      win32: `powershell -c "irm bun.sh/install.ps1 | iex"`,
      otherwise: "curl -fsSL https://bun.sh/install | bash",
    },
  },
];

/** Other names of the same program. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  python: ["python3", "py"],
  python3: ["python", "py"],
  pip: ["pip3"],
  npx: ["bunx", "pnpx"],
  docker: ["podman"],
};

/** The package of a well-known program, and how to install it. */
function howToInstall(program: string, platform: NodeJS.Platform): string | undefined {
  const known = WAYS.find(({ programs }) => programs.includes(program));
  return known && `${program} comes with ${known.name}: ${known.ways[platform] ?? known.ways.otherwise}`;
}

function otherNames(program: string): readonly string[] {
  return OTHER_NAMES[program] ?? [];
}
