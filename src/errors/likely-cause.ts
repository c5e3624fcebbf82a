import type { ErrorDetails } from "./nexus-error.ts";

/** What a process left behind when it ended. */
export interface LastWords {
  exitCode?: number | undefined;
  signal?: string | undefined;
  stderr: readonly string[];
}

/** The part of an error's details that is a diagnosis. */
export type Diagnosis = Pick<ErrorDetails, "likelyCause" | "hint" | "snippet">;

interface Pattern {
  words: RegExp;
  /** Gets the groups of what was found. */
  diagnosis: (found: readonly string[]) => Diagnosis;
}

/** Of last words, the last: what is searched by patterns must have an end. */
const MAX_LENGTH = 10_000;

const RUN_BY_HAND = "Run its command by hand to see what it says.";

/** First match wins: what names the missing thing stands before what only names the kind of failure. */
const PATTERNS: readonly Pattern[] = [
  {
    words:
      /npm (?:ERR!|error) 404.*?['"‘]?((?:@[\w.-]+\/)?[\w.-]+)@[^\s'"]*['"’]? (?:is not in this registry|could not be found)/,
    diagnosis: ([name]) => ({
      likelyCause: `There is no npm package "${name}".`,
      hint: "Correct the package's name in the arguments; a private one needs its registry in .npmrc.",
    }),
  },
  {
    words: /npm (?:ERR!|error) (?:code )?E?404/,
    diagnosis: () => ({
      likelyCause: "npm does not find the package.",
      hint: "Correct the package's name in the arguments; a private one needs its registry in .npmrc.",
    }),
  },
  {
    words: /npm (?:ERR!|error) could not determine executable to run/,
    diagnosis: () => ({
      likelyCause: "The npm package has no program to run.",
      hint: `Check its name, or name the program: "args": ["-y", "--package", "<package>", "<program>"].`,
    }),
  },
  {
    words: /ModuleNotFoundError: No module named ['"]([^'"]+)['"]/,
    diagnosis: ([name]) => ({
      likelyCause: `The Python module "${name}" is not installed where the server runs.`,
      hint: "Install it there, or start the server with the Python of its own environment (its .venv, or uv run).",
    }),
  },
  {
    words: /Cannot find (?:module|package) ['"]([^'"]+)['"]/,
    diagnosis: ([name = ""]) =>
      /^[./\\]|^[A-Za-z]:|^file:/.test(name)
        ? {
            likelyCause: `The file ${name} does not exist.`,
            hint: `Correct the path in "args" (relative ones start at "cwd"), or build the server first.`,
          }
        : {
            likelyCause: `The module "${name}" is not installed.`,
            hint: "Install the server's dependencies: npm install in its folder.",
          },
  },
  {
    words: /can't open file ['"]([^'"]+)['"]: \[Errno 2\]/,
    diagnosis: ([name]) => ({
      likelyCause: `The file ${name} does not exist.`,
      hint: `Correct the path in "args"; relative ones start at "cwd".`,
    }),
  },
  {
    words: /EADDRINUSE.*?:(\d{2,5})\b/,
    diagnosis: ([port]) => ({
      likelyCause: `Port ${port} is taken by another program, perhaps by an earlier start of this server.`,
      hint: "End that program, or give the server another port.",
    }),
  },
  {
    words: /EADDRINUSE|[Aa]ddress already in use/,
    diagnosis: () => ({
      likelyCause: "The port it wants is taken by another program, perhaps by an earlier start of this server.",
      hint: "End that program, or give the server another port.",
    }),
  },
  {
    words: /[Cc]annot connect to the Docker daemon|error during connect: .*docker/,
    diagnosis: () => ({ likelyCause: "Docker is not running.", hint: "Start Docker, then try again." }),
  },
  {
    words: /Unable to find image ['"]?([^\s'"]+)|pull access denied for ([^\s,]+)/,
    diagnosis: ([image, denied]) => ({
      likelyCause: `Docker could not fetch the image "${image ?? denied}".`,
      hint: `Correct the image's name, or "docker pull" it by hand to see why.`,
    }),
  },
  { words: /KeyError: ['"]([A-Z][A-Z0-9_]{2,})['"]/, diagnosis: ([name]) => unsetVariable(name) },
  {
    words:
      /\b(?!ERR_)([A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{4,}KEY|[A-Z]{2,}TOKEN)\b[^\n]{0,60}?\b(?:not set|unset|required|missing|undefined|must be|not (?:provided|found|defined)|empty)\b/,
    diagnosis: ([name]) => unsetVariable(name),
  },
  {
    words:
      /\b(?:not set|[Rr]equired?s?|[Mm]issing|[Ss]et|[Pp]rovide|[Uu]ndefined)\b[^\n]{0,60}?\b(?!ERR_)([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/,
    diagnosis: ([name]) => unsetVariable(name),
  },
  {
    words:
      /\b(?:no|missing|invalid|incorrect|required?s?|provide)\b[^\n]{0,40}?\b(?:api[ _-]?key|access token|auth token|credentials)\b|\b(?:api[ _-]?key|access token|auth token|credentials)\b[^\n]{0,40}?\b(?:missing|invalid|required|not set|not provided)\b/i,
    diagnosis: () => ({
      likelyCause: "It wants an API key or other credentials that it did not get.",
      hint: `Give them in the entry's "env" or arguments; of your own variables a server gets only a short list.`,
    }),
  },
  {
    words: /Unsupported engine|requires? Node(?:\.js)? (?:version )?(?:>=|v?\d)/,
    diagnosis: () => ({
      likelyCause: "The server is written for another version of Node.js.",
      hint: `Compare what it needs with "node --version", or give the full path of the right node as "command".`,
    }),
  },
  {
    words: /Traceback \(most recent call last\):[\s\S]*^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b[^\n]*)/m,
    diagnosis: ([line]) => ({ likelyCause: `A Python exception ended it: ${line}`, hint: RUN_BY_HAND }),
  },
  {
    words: /^(?:Uncaught )?((?:[A-Z]\w*)?Error(?: \[\w+\])?: [^\n]+)/m,
    diagnosis: ([line]) => ({ likelyCause: `An error it did not handle ended it: ${line}`, hint: RUN_BY_HAND }),
  },
];

/** Why a server's process probably ended, from its last words or, where it had none, from its exit code. */
export function likelyCauseOfExit({ exitCode, signal, stderr }: LastWords): Diagnosis {
  const text = stderr.join("\n").slice(-MAX_LENGTH);
  for (const { words, diagnosis } of PATTERNS) {
    const found = words.exec(text);
    if (found) return diagnosis(found.slice(1));
  }
  return causeOfCode(exitCode, signal, text.trim() === "");
}

function causeOfCode(exitCode: number | undefined, signal: string | undefined, silent: boolean): Diagnosis {
  if (signal === "SIGKILL" || exitCode === 137) {
    return {
      likelyCause: "Something killed it: a person, a supervisor, or the system because memory ran out.",
      hint: "Look into the system's log, and at the memory it used.",
    };
  }
  if (signal === "SIGSEGV" || signal === "SIGABRT" || signal === "SIGBUS" || signal === "SIGILL") {
    return { likelyCause: "It crashed in native code.", hint: "Update or reinstall the server and its runtime." };
  }
  if (exitCode === 127) {
    return {
      likelyCause: "A command that it starts does not exist.",
      hint: `Install that command, or put its folder on the PATH of the entry's "env".`,
    };
  }
  if (exitCode === 126) {
    return { likelyCause: "A command that it starts may not be run.", hint: "Make that file executable." };
  }
  if (exitCode === 0 && silent) {
    return {
      likelyCause:
        "It ended as if its work were done: perhaps the command shows a text or installs, and starts no server.",
      hint: `Check "command" and "args"; some servers need an argument such as "stdio" or "serve".`,
    };
  }
  return { hint: RUN_BY_HAND };
}

function unsetVariable(name = ""): Diagnosis {
  return {
    likelyCause: `The variable ${name} is not set for the server.`,
    hint: `Of your own variables a server gets only a short list: add ${name} to the entry's "env".`,
    snippet: `"env": { "${name}": "\${${name}}" }`,
  };
}
