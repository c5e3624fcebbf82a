import { expect, test } from "vitest";
import { likelyCauseOfExit } from "./likely-cause.ts";

test.each([
  ["Error: Cannot find module '/srv/dist/index.js'", "The file /srv/dist/index.js does not exist."],
  ["Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /a.js", `The module "zod" is not installed.`],
  ["ModuleNotFoundError: No module named 'mcp'", `The Python module "mcp" is not installed where the server runs.`],
  ["python3: can't open file '/srv/a.py': [Errno 2] No such file or directory", "The file /srv/a.py does not exist."],
  ["npm ERR! 404  '@scope/mcp@latest' is not in this registry.", `There is no npm package "@scope/mcp".`],
  ["npm error code E404", "npm does not find the package."],
  ["npm error could not determine executable to run", "The npm package has no program to run."],
  ["GITHUB_TOKEN is not set", "The variable GITHUB_TOKEN is not set for the server."],
  ["Please set the OPENAI_API_KEY variable", "The variable OPENAI_API_KEY is not set for the server."],
  ["Missing required environment variable: SLACK_TEAM_ID", "The variable SLACK_TEAM_ID is not set for the server."],
  ["KeyError: 'TOKEN'", "The variable TOKEN is not set for the server."],
  ["Invalid API key", "It wants an API key or other credentials that it did not get."],
  ["OSError: [Errno 98] Address already in use", "The port it wants is taken by another program"],
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "Docker is not running."],
  ["pull access denied for acme/mcp, repository does not exist", `Docker could not fetch the image "acme/mcp".`],
  ["Traceback (most recent call last):\n  x\nRuntimeError: no", "A Python exception ended it: RuntimeError: no"],
  ["TypeError: x is not a function\n    at y", "An error it did not handle ended it: TypeError: x is not a function"],
])("a server's last words tell the cause: %s (P1.9)", (words, cause) => {
  expect(likelyCauseOfExit({ exitCode: 1, stderr: words.split("\n") }).likelyCause).toContain(cause);
});

test.each([
  [{ exitCode: 127 }, "A command that it starts does not exist."],
  [{ exitCode: 126 }, "A command that it starts may not be run."],
  [{ exitCode: 137 }, "Something killed it"],
  [{ signal: "SIGSEGV" }, "It crashed in native code."],
  [{ exitCode: 0 }, "It ended as if its work were done"],
])("without words, the way it ended tells the cause: %j (P1.9)", (end, cause) => {
  expect(likelyCauseOfExit({ ...end, stderr: [] }).likelyCause).toContain(cause);
});

test("words that tell nothing are not guessed from (P1.9)", () => {
  const guess = likelyCauseOfExit({ exitCode: 3, stderr: ["server: starting", "server: goodbye"] });
  expect(guess).toEqual({ hint: "Run its command by hand to see what it says." });
});

test("hostile words take no longer to read than others (P1.9, R8)", () => {
  const stderr = Array.from({ length: 50 }, () =>
    "npm error 404 A_A not Traceback (most recent call last): ".repeat(35),
  );
  const started = performance.now();
  likelyCauseOfExit({ exitCode: 1, stderr });
  expect(performance.now() - started).toBeLessThan(500);
});
