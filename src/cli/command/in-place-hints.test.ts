import { expect, test } from "vitest";
import { likelyCauseOfExit } from "../../errors/likely-cause.ts";
import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import { startFailure } from "../../process/start-failure.ts";
import { refusalError } from "../../transport/refusal.ts";
import { withOptionHints } from "./in-place-hints.ts";

const KEYS = /"(?:command|args|env|env_passthrough|cwd|headers|url|connection_timeout)"|entry/;

const refused = refusalError({ kind: "refused", status: 401, headers: {}, body: "" }).details;

function notStarted(command: string, code: string): ErrorDetails {
  const error = Object.assign(new Error(code), { code });
  return startFailure(error, { command, args: ["a b.js"], env: {}, platform: "linux" }).details;
}

const exited = (line: string) => likelyCauseOfExit({ exitCode: 1, signal: undefined, stderr: [line] });

test.each<[string, ErrorDetails, ErrorDetails]>([
  [
    "credentials",
    refused,
    {
      hint: `Add the credentials: --header "Authorization: Bearer …".`,
      snippet: `--header "Authorization: Bearer \${TOKEN}"`,
    },
  ],
  ["a quoted command", notStarted("node server.js", "ENOENT"), { hint: "Remove the inner quotes." }],
  [
    "a script without interpreter",
    notStarted("./server.js", "ENOEXEC"),
    { snippet: String.raw`--stdio 'node ./server.js '\''a b.js'\'''` },
  ],
  [
    "an unset variable",
    exited("API_KEY is not set"),
    { hint: expect.stringMatching(/^Add API_KEY with --env\./) as string, snippet: `--env API_KEY="\${API_KEY}"` },
  ],
  [
    "an HTTP server",
    exited("listening at http://localhost:3000/mcp"),
    { hint: expect.stringContaining("use --url") as string, snippet: "--url http://localhost:3000/mcp" },
  ],
  ["an unknown package", exited("npm error 404 Not Found - GET https://registry.npmjs.org/nope"), {}],
  ["an unknown host", exited("getaddrinfo ENOTFOUND db.example"), {}],
  ["missing credentials", exited("Error: no API key provided"), {}],
  ["a command that was not found", likelyCauseOfExit({ exitCode: 127, signal: undefined, stderr: [] }), {}],
  ["a silent end", likelyCauseOfExit({ exitCode: 0, signal: undefined, stderr: [] }), {}],
])("the hint for %s names options instead of keys of an entry", (_, details, expected) => {
  const { hint, likelyCause, snippet } = details;
  expect([hint, likelyCause, snippet].join(" ")).toMatch(/"\w+"|entry|configure/);
  const inPlace = withOptionHints(new NexusError("SERVER_EXITED", "x", details)).details;
  expect(inPlace).toMatchObject(expected);
  expect([inPlace.hint, inPlace.likelyCause, inPlace.snippet].join(" ")).not.toMatch(KEYS);
});

test("a hint without keys of an entry and a snippet that is no entry stay as they are", () => {
  const error = new NexusError("TIMEOUT", "x", { hint: "Wait.", snippet: "nexus mcp call a.b" });
  expect(withOptionHints(error).details).toMatchObject(error.details);
});
