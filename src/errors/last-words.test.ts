import { expect, test } from "vitest";
import { lastWords } from "./last-words.ts";

test.each([
  [["Error: no database", "    at main (x.js:1)", "  code: 'E1',", "}", "", "Node.js v22.1.0"], "Error: no database"],
  [["notes: cannot open the file", "notes: giving up"], "notes: giving up"],
  [["bad port", "}"], "bad port"],
  [["Traceback (most recent call last):", "ValueError: bad", "^^^^"], "ValueError: bad"],
  [["Service not ready"], "Service not ready"],
  [
    [
      'npm warn Unknown user config "nodedir".',
      "npm error code E404",
      "npm error 404 Not Found - GET https://registry.example/no-such-server",
      "npm error 404",
      "npm error 404  The requested resource 'no-such-server@*' could not be found or you do not have permission to access it.",
      "npm error 404",
      "npm error 404 Note that you can also install from a",
      "npm error 404 tarball, folder, http url, or git url.",
      "npm error A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log",
    ],
    "npm error 404 Not Found - GET https://registry.example/no-such-server",
  ],
  [
    [
      "npm ERR! code ETARGET",
      "npm ERR! notarget No matching version found for mcp-notes@99.0.0.",
      "npm ERR! notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.",
      "",
      "npm ERR! A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log",
    ],
    "npm ERR! notarget No matching version found for mcp-notes@99.0.0.",
  ],
  [
    [
      "npm error code ENOTFOUND",
      "npm error syscall getaddrinfo",
      "npm error errno ENOTFOUND",
      "npm error network request to https://registry.example/x failed, reason: getaddrinfo ENOTFOUND registry.example",
      "npm error network This is a problem related to network connectivity.",
      "npm error network 'proxy' config is set properly.  See: 'npm help config'",
      "npm error A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log",
    ],
    "npm error network request to https://registry.example/x failed, reason: getaddrinfo ENOTFOUND registry.example",
  ],
  [
    [
      "npm error could not determine executable to run",
      "npm error A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log",
    ],
    "npm error could not determine executable to run",
  ],
  [
    [
      "docker: Error response from daemon: pull access denied for notes",
      "",
      "Run 'docker run --help' for more information",
    ],
    "docker: Error response from daemon: pull access denied for notes",
  ],
  [
    [
      " ERR_PNPM_FETCH_404  GET https://registry.example/x: Not Found - 404",
      "No authorization header was set for the request.",
    ],
    "ERR_PNPM_FETCH_404  GET https://registry.example/x: Not Found - 404",
  ],
])("of what a process wrote last, the line that says something is chosen: %j (P1.9)", (stderr, words) => {
  expect(lastWords(stderr)).toBe(words);
});

test.each([
  [[]],
  [["}"]],
  [["╭──────────╮", "│          │", "╰──────────╯"]],
  [["Notes MCP Server v1.2 running on stdio"]],
  [["    at main (x.js:1)", "Node.js v22.1.0"]],
  [["npm notice New minor version of npm available!"]],
])("brackets, boxes, frames and greetings are no cause: %j (P1.9)", (stderr) => {
  expect(lastWords(stderr)).toBeUndefined();
});
