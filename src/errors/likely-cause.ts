import type { ErrorDetails } from "./nexus-error.ts";

/** The output and exit code of a process that has ended. */
interface LastWords {
  exitCode?: number | undefined;
  signal?: string | undefined;
  stderr: readonly string[];
}

/** The part of an error's details that is a diagnosis. */
type Diagnosis = Pick<ErrorDetails, "likelyCause" | "hint" | "snippet">;

interface Pattern {
  words: RegExp;
  /** Receives the groups of the match. */
  diagnosis: (found: readonly string[]) => Diagnosis;
}

/** Only the end of the output is searched, so that the patterns run in limited time. */
const MAX_LENGTH = 10_000;

const REINSTALL = "Reinstall the server's package. With npx, first delete the _npx folder in npm's cache.";
/** A child does not inherit the proxy variables unless its entry passes them. */
const CHECK_NETWORK = `Check the network, the VPN and the firewall. Behind a proxy, add "env_passthrough": ["HTTPS_PROXY"] to the entry.`;
const RUN_BY_HAND = "Run the server's command in a terminal to see its output.";

/** The first match wins: patterns that name the missing thing come before those that name only the kind of failure. */
const PATTERNS: readonly Pattern[] = [
  {
    words:
      /npm (?:ERR!|error) 404.*?['"‘]?((?:@[\w.-]+\/)?[\w.-]+)@[^\s'"]*['"’]? (?:is not in this registry|could not be found)/,
    diagnosis: ([name]) => ({
      likelyCause: `There is no npm package "${name}".`,
      hint: `Correct the package name in "args". A private package needs its registry in .npmrc.`,
    }),
  },
  {
    words: /npm (?:ERR!|error) (?:code )?E?404/,
    diagnosis: () => ({
      likelyCause: "npm did not find the package.",
      hint: `Correct the package name in "args". A private package needs its registry in .npmrc.`,
    }),
  },
  {
    words: /npm (?:ERR!|error) notarget No matching version found for (\S{1,300}?)\.?$/m,
    diagnosis: ([name]) => ({
      likelyCause: `There is no version "${name}" of this npm package.`,
      hint: `Correct the version in "args", or leave it out.`,
    }),
  },
  {
    words: /npm (?:ERR!|error) could not determine executable to run/,
    diagnosis: () => ({
      likelyCause: "The npm package has no executable.",
      hint: `Check the package name, or specify the executable: "args": ["-y", "--package", "<package>", "<program>"].`,
    }),
  },
  {
    words: /ModuleNotFoundError: No module named ['"]([^'"]+)['"]/,
    diagnosis: ([name]) => ({
      likelyCause: `The Python module "${name}" is not installed in the server's Python environment.`,
      hint: "Install it there, or start the server with the right Python (from its .venv, or with uv run).",
    }),
  },
  {
    words: /NODE_MODULE_VERSION \d|was compiled against a different Node\.js version/,
    diagnosis: () => ({
      likelyCause: "One of its native modules was built for another version of Node.js.",
      hint: `Rebuild it with this version ("npm rebuild" in its folder). With npx, delete the _npx folder in npm's cache.`,
    }),
  },
  {
    words:
      /Could not locate the bindings file|No native build was found|Cannot find (?:module ['"][^'"\n]+\.node['"]|native binding)|invalid ELF header|\.node: (?:cannot open shared object|undefined symbol)|is not a valid Win32 application/,
    diagnosis: () => ({
      likelyCause: "One of its native modules has no binary for this system and this version of Node.js.",
      hint: "Reinstall the server on this machine with install scripts enabled, or use a version of Node.js that it supports.",
    }),
  },
  {
    words: /error while loading shared libraries: ([^\s:]+)|\b(lib[\w.+-]+\.so[\d.]*): cannot open shared object file/,
    diagnosis: ([name, other]) => ({
      likelyCause: `The system library ${name ?? other} is missing.`,
      hint: "Install the system package that contains it.",
    }),
  },
  {
    words:
      /Cannot find (?:module|package) ['"]([^'"\n]+)['"](?: imported from ([^\n]+)|\s{0,9}Require stack:\s{0,9}- ([^\n]+))?/,
    diagnosis: ([name = "", importer, requirer]) => missingModule(name, importer ?? requirer),
  },
  {
    // cmd.exe, PowerShell and other shells: the shell was started, but the program in it was not found.
    words:
      /'"?([^'"\n]{1,200})"?' is not recognized as (?:an internal or external command|(?:the|a) name of a cmdlet)|^(?:\S{0,100}\/)?(?:ba|da|z)?sh: (?:line )?\d+: ([^\s:]{1,200}): (?:command )?not found/m,
    diagnosis: ([name, other]) => ({
      likelyCause: `The command "${name ?? other}", which the server runs, was not found.`,
      hint: `Install that command, or add its folder to PATH in the entry's "env".`,
    }),
  },
  {
    words: /can't open file ['"]([^'"]+)['"]: \[Errno 2\]/,
    diagnosis: ([name]) => ({
      likelyCause: `The file ${name} does not exist.`,
      hint: `Correct the path in "args". Relative paths are resolved from "cwd".`,
    }),
  },
  {
    words: /EADDRINUSE.*?:(\d{2,5})\b/,
    diagnosis: ([port]) => ({
      likelyCause: `Port ${port} is already in use, perhaps by an earlier instance of this server.`,
      hint: "Stop the program that uses the port, or configure another port for the server.",
    }),
  },
  {
    words: /EADDRINUSE|[Aa]ddress already in use/,
    diagnosis: () => ({
      likelyCause: "The server's port is already in use, perhaps by an earlier instance of this server.",
      hint: "Stop the program that uses the port, or configure another port for the server.",
    }),
  },
  {
    words: /ECONNREFUSED (\S{1,200}:\d{1,5})\b|dial tcp (\S{1,200}:\d{1,5}): connect: connection refused/,
    diagnosis: ([address, dialled]) => notRunning(address ?? dialled ?? ""),
  },
  {
    words: /connection to server at "([^"\n]{1,200})"[^\n]{0,60}?port (\d{1,5}) failed: Connection refused/,
    diagnosis: ([host, port]) => notRunning(`${host}:${port}`),
  },
  {
    words: /(?:ENOTFOUND|EAI_AGAIN)(?: ([\w.-]{1,253}))?|lookup ([\w.-]{1,253})[^\n]{0,60}?: no such host/,
    diagnosis: ([name, other]) => unknownHost(name ?? other),
  },
  {
    words: /Temporary failure in name resolution|Name or service not known|nodename nor servname provided/,
    diagnosis: () => unknownHost(undefined),
  },
  {
    words: /CERT_HAS_EXPIRED|certificate has expired/,
    diagnosis: () => ({
      likelyCause: "The certificate of a site that the server uses has expired.",
      hint: "Ask the site's operator to renew it. If it is new, check this machine's clock.",
    }),
  },
  {
    words:
      /SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY_LEAF|GET_ISSUER)|CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|unable to (?:get local issuer|verify the first) certificate|x509: certificate signed by unknown authority|invalid peer certificate/,
    diagnosis: () => ({
      likelyCause:
        "The server does not trust the certificate of a site that it uses. A private authority signed it, perhaps a company proxy.",
      hint: "Configure the authority's certificate (PEM file) for the server. Python programs read SSL_CERT_FILE instead.",
      snippet: `"env": { "NODE_EXTRA_CA_CERTS": "/path/to/ca.pem" }`,
    }),
  },
  {
    words: /(?:ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)(?: (\S{1,200}:\d{1,5})\b)?|Network is unreachable/,
    diagnosis: ([address]) => ({
      likelyCause:
        address === undefined ? "The server could not reach the network." : `The server could not reach ${address}.`,
      hint: CHECK_NETWORK,
    }),
  },
  {
    words: /[Cc]annot connect to the Docker daemon|error during connect: .*docker/,
    diagnosis: () => ({ likelyCause: "Docker is not running.", hint: "Start Docker, then try again." }),
  },
  {
    words: /Unable to find image ['"]?([^\s'"]+)|pull access denied for ([^\s,]+)/,
    diagnosis: ([image, denied]) => ({
      likelyCause: `Docker could not pull the image "${image ?? denied}".`,
      hint: `Correct the image name, or run "docker pull" in a terminal to see why.`,
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
      likelyCause: "The server requires an API key or other credentials and did not receive them.",
      hint: `Set them in the entry's "env" or "args". Servers inherit only a short list of your environment variables.`,
    }),
  },
  {
    words: /Unsupported engine|requires? Node(?:\.js)? (?:version )?(?:>=|v?\d)/,
    diagnosis: () => ({
      likelyCause: "The server requires another version of Node.js.",
      hint: `Compare its requirements with "node --version", or set "command" to the full path of the right node.`,
    }),
  },
  {
    words: /Traceback \(most recent call last\):[\s\S]*^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b[^\n]*)/m,
    diagnosis: ([line]) => ({ likelyCause: `The server ended with a Python exception: ${line}`, hint: RUN_BY_HAND }),
  },
  {
    words: /^(?:Uncaught )?((?:[A-Z]\w*)?Error(?: \[\w+\])?: [^\n]+)/m,
    diagnosis: ([line]) => ({ likelyCause: `The server ended with an unhandled error: ${line}`, hint: RUN_BY_HAND }),
  },
];

/**
 * Messages of HTTP servers with their address. Few characters may be between, because a longer sentence is about
 * something else.
 */
const LISTENS =
  /\b(?:listening|running|started|serving|available|ready)\b[^\n]{0,40}?(https?:\/\/[\w.[\]:-]{1,200}(?:\/[\w./-]{0,200})?)/i;
const LISTENS_ON_PORT = /\b(?:listening|running|started) (?:on|at) (?:port |:|0\.0\.0\.0:|\*:)(\d{2,5})\b/i;

/** The diagnosis for an HTTP server that was started as a stdio server. */
export function causeOfListening(lines: readonly string[]): Diagnosis | undefined {
  const text = lines.join("\n").slice(-MAX_LENGTH);
  const said = LISTENS.exec(text)?.[1];
  const port = said === undefined ? LISTENS_ON_PORT.exec(text)?.[1] : undefined;
  const address = said ?? (port === undefined ? undefined : `http://127.0.0.1:${port}`);
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (url.pathname === "/") url.pathname = "/mcp";
  return {
    likelyCause: `This is an HTTP server: it listens at ${url.origin} and does not read messages from stdin.`,
    hint: `Add the argument that selects stdio, often "stdio" or "--stdio". Or start the server separately and configure its URL.`,
    snippet: `"url": "${url.href}"`,
  };
}

/** Why a server's process probably ended, from its last output or, if there is none, from its exit code. */
export function likelyCauseOfExit({ exitCode, signal, stderr }: LastWords): Diagnosis {
  const text = stderr.join("\n").slice(-MAX_LENGTH);
  for (const { words, diagnosis } of PATTERNS) {
    const found = words.exec(text);
    if (found) return diagnosis(found.slice(1));
  }
  return causeOfListening(stderr) ?? causeOfCode(exitCode, signal, text.trim() === "");
}

/** `importer` is the importing file, if known. */
function missingModule(name: string, importer = ""): Diagnosis {
  const isFile = /^[./\\]|^[A-Za-z]:|^file:/.test(name);
  const likelyCause = isFile ? `The file ${name} does not exist.` : `The module "${name}" is not installed.`;
  if (IN_PACKAGE.test(name) || IN_PACKAGE.test(importer)) {
    return { likelyCause: `${likelyCause} An installed package is incomplete.`, hint: REINSTALL };
  }
  return {
    likelyCause,
    hint: isFile
      ? `Correct the path in "args" (relative paths are resolved from "cwd"), or build the server first.`
      : `Install the server's dependencies: run "npm install" in its folder.`,
  };
}

/** A path inside an installed package, which the user did not write. */
const IN_PACKAGE = /[\\/]node_modules[\\/]/;

function notRunning(address: string): Diagnosis {
  return {
    likelyCause: `A service that the server needs is not running at ${address}.`,
    hint: `Start that service, or correct its address in the entry's "env" or "args".`,
  };
}

function unknownHost(name: string | undefined): Diagnosis {
  return {
    likelyCause: `The server could not resolve ${name === undefined ? "a host name" : `the host name ${name}`}.`,
    hint: CHECK_NETWORK,
  };
}

function causeOfCode(exitCode: number | undefined, signal: string | undefined, silent: boolean): Diagnosis {
  if (signal === "SIGKILL" || exitCode === 137) {
    return {
      likelyCause: "The process was killed by a person, a supervisor, or the system because memory ran out.",
      hint: "Check the system log and the memory that the server used.",
    };
  }
  if (signal === "SIGSEGV" || signal === "SIGABRT" || signal === "SIGBUS" || signal === "SIGILL") {
    return {
      likelyCause: "The server crashed in native code.",
      hint: "Update or reinstall the server and its runtime.",
    };
  }
  if (exitCode === 127) {
    return {
      likelyCause: "A command that the server runs was not found.",
      hint: `Install that command, or add its folder to PATH in the entry's "env".`,
    };
  }
  if (exitCode === 126) {
    return { likelyCause: "A command that the server runs is not executable.", hint: "Make that file executable." };
  }
  if (exitCode === 0 && silent) {
    return {
      likelyCause:
        "The process finished normally. The command may only print text or install something, and not start a server.",
      hint: `Check "command" and "args". Some servers need an argument such as "stdio" or "serve".`,
    };
  }
  return { hint: RUN_BY_HAND };
}

function unsetVariable(name = ""): Diagnosis {
  return {
    likelyCause: `The variable ${name} is not set for the server.`,
    hint: `Add ${name} to the entry's "env". Servers inherit only a short list of your environment variables.`,
    snippet: `"env": { "${name}": "\${${name}}" }`,
  };
}
