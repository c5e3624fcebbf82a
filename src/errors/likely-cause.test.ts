import { expect, test } from "vitest";
import { causeOfListening, likelyCauseOfExit } from "./likely-cause.ts";
import { cpuMsOf } from "../../test/fixtures/cpu-time.ts";

test.each([
  ["Error: Cannot find module '/srv/dist/index.js'", "The file /srv/dist/index.js does not exist."],
  ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /a.js", `The module "zod" is not installed.`],
  [
    "ModuleNotFoundError: No module named 'mcp'",
    `The Python module "mcp" is not installed in the server's Python environment.`,
  ],
  ["python3: can't open file '/srv/a.py': [Errno 2] No such file or directory", "The file /srv/a.py does not exist."],
  ["npm ERR! 404  '@scope/mcp@latest' is not in this registry.", `There is no npm package "@scope/mcp".`],
  [
    "'npx' is not recognized as an internal or external command,\r\noperable program or batch file.",
    `The command "npx", which the server runs, was not found.`,
  ],
  [
    "uvx : The term 'uvx' is not recognized as the name of a cmdlet, function, script file, or operable program.",
    `The command "uvx", which the server runs, was not found.`,
  ],
  ["/bin/sh: 1: uvx: not found", `The command "uvx", which the server runs, was not found.`],
  ["bash: line 1: uvx: command not found", `The command "uvx", which the server runs, was not found.`],
  ["npm error code E404", "npm did not find the package."],
  [
    "npm error code ETARGET\nnpm error notarget No matching version found for mcp-notes@99.0.0.",
    'There is no version "mcp-notes@99.0.0" of this npm package.',
  ],
  ["npm error could not determine executable to run", "The npm package has no executable."],
  ["GITHUB_TOKEN is not set", "The variable GITHUB_TOKEN is not set for the server."],
  ["Please set the OPENAI_API_KEY variable", "The variable OPENAI_API_KEY is not set for the server."],
  ["Missing required environment variable: SLACK_TEAM_ID", "The variable SLACK_TEAM_ID is not set for the server."],
  ["KeyError: 'TOKEN'", "The variable TOKEN is not set for the server."],
  ["Invalid API key", "The server requires an API key or other credentials and did not receive them."],
  ["OSError: [Errno 98] Address already in use", "The server's port is already in use"],
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "Docker is not running."],
  ["pull access denied for acme/mcp, repository does not exist", `Docker could not pull the image "acme/mcp".`],
  [
    "Traceback (most recent call last):\n  x\nRuntimeError: no",
    "The server ended with a Python exception: RuntimeError: no",
  ],
  [
    "TypeError: x is not a function\n    at y",
    "The server ended with an unhandled error: TypeError: x is not a function",
  ],
  ["Error: connect ECONNREFUSED 127.0.0.1:5432", "A service that the server needs is not running at 127.0.0.1:5432."],
  ["AggregateError [ECONNREFUSED]: \n  Error: connect ECONNREFUSED ::1:6379", "is not running at ::1:6379"],
  [
    "dial tcp 10.0.0.7:3306: connect: connection refused",
    "A service that the server needs is not running at 10.0.0.7:3306.",
  ],
  [
    `psycopg.OperationalError: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused`,
    "A service that the server needs is not running at localhost:5432.",
  ],
  ["Error: getaddrinfo ENOTFOUND api.example.com", "The server could not resolve the host name api.example.com."],
  [
    "npm error request to https://npm.example/x failed, reason: getaddrinfo EAI_AGAIN npm.example",
    "The server could not resolve the host name npm.example.",
  ],
  ["socket.gaierror: [Errno -3] Temporary failure in name resolution", "The server could not resolve a host name."],
  [
    "dial tcp: lookup api.example on 10.0.0.1:53: no such host",
    "The server could not resolve the host name api.example.",
  ],
  ["Error: connect ETIMEDOUT 192.0.2.1:443", "The server could not reach 192.0.2.1:443."],
  ["code: 'SELF_SIGNED_CERT_IN_CHAIN'", "The server does not trust the certificate of a site that it uses"],
  ["ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED]", "The server does not trust the certificate"],
  ["Error: certificate has expired", "The certificate of a site that the server uses has expired."],
  [
    "using\nNODE_MODULE_VERSION 115. This version of Node.js requires\nNODE_MODULE_VERSION 137.",
    "One of its native modules was built for another version of Node.js.",
  ],
  ["Error: Could not locate the bindings file. Tried:", "One of its native modules has no binary for this system"],
  [
    "Error: Cannot find module '../build/Release/canvas.node'",
    "One of its native modules has no binary for this system",
  ],
  [
    "chrome: error while loading shared libraries: libnss3.so: cannot open",
    "The system library libnss3.so is missing.",
  ],
  ["Weather server listening on http://0.0.0.0:8080", "This is an HTTP server: it listens at http://127.0.0.1:8080"],
])("a server's last words tell the cause: %s (P1.9)", (words, cause) => {
  expect(likelyCauseOfExit({ exitCode: 1, stderr: words.split("\n") }).likelyCause).toContain(cause);
});

test.each([
  [{ exitCode: 127 }, "A command that the server runs was not found."],
  [{ exitCode: 126 }, "A command that the server runs is not executable."],
  [{ exitCode: 137 }, "The process was killed"],
  [{ signal: "SIGSEGV" }, "The server crashed in native code."],
  [{ exitCode: 0 }, "The process finished normally"],
])("without words, the way it ended tells the cause: %j (P1.9)", (end, cause) => {
  expect(likelyCauseOfExit({ ...end, stderr: [] }).likelyCause).toContain(cause);
});

test.each([
  "Error: Cannot find module '/home/ann/.npm/_npx/1f/node_modules/mcp-x/dist/index.js'",
  "Error: Cannot find module './lib/tool'\nRequire stack:\n- /srv/node_modules/mcp-x/index.js",
  "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/node_modules/mcp-x/index.js",
])("what an installed package lacks is not the fault of the entry: %s (P1.9)", (words) => {
  const { likelyCause, hint } = likelyCauseOfExit({ exitCode: 1, stderr: words.split("\n") });
  expect(likelyCause).toContain("An installed package is incomplete.");
  expect(hint).toContain("Reinstall the server's package");
});

test("a server for HTTP that was started as a command is configured with its url (P1.9)", () => {
  expect(causeOfListening(["MCP server running on http://localhost:3000/mcp"])).toMatchObject({
    snippet: `"url": "http://localhost:3000/mcp"`,
  });
  expect(causeOfListening(["Server listening on port 8931"])).toMatchObject({
    snippet: `"url": "http://127.0.0.1:8931/mcp"`,
  });
  expect(causeOfListening(["Notes server running on stdio", "See https://notes.example/docs"])).toBeUndefined();
});

test("output without a known pattern has no likely cause (P1.9)", () => {
  const guess = likelyCauseOfExit({ exitCode: 3, stderr: ["server: starting", "server: goodbye"] });
  expect(guess).toEqual({ hint: "Run the server's command in a terminal to see its output." });
});

test("hostile output takes no longer to search (P1.9, R8)", async () => {
  const stderr = Array.from({ length: 50 }, () =>
    "npm error 404 A_A not Traceback (most recent call last): listening lookup Cannot find module '".repeat(20),
  );
  expect(await cpuMsOf(() => likelyCauseOfExit({ exitCode: 1, stderr }))).toBeLessThan(500);
});
