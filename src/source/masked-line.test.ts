import { expect, test } from "vitest";
import { CONFIG_WORDS } from "../config/read/entry-keys.ts";
import { maskedLine } from "./masked-line.ts";
import { cpuMsOf } from "../../test/fixtures/cpu-time.ts";

test.for([
  [`{"a":{"args":["--token", "ghp_SECRET"] "x":1}}`, `{"a":{"args":["*******", "**********"] "x":1}}`],
  [`{"env":{"GITHUB_PAT": "ghp_SECRET" "x":1}}`, `{"env":{"GITHUB_PAT": "**********" "*":1}}`],
  [String.raw`{"TOKEN": "ab\"SECRET", "x":1}`, `{"TOKEN": "***"******", "x":1}`],
  [`{"url":"https://user:SECRET@h/?sig=SECRET2" "x":1}`, `{"url":"**********************************" "*":1}`],
  [`"command" "node", "type": "http"`, `"command" "node", "type": "http"`],
  [`"command": "npx -y x --token=SECRET"`, `"command": "npx ** * **************"`],
  [`"command": ["npx", "-y", "SECRET"], "args": ["SECRET"]`, `"command": ["npx", "**", "******"], "args": ["******"]`],
  [`  API_KEY: "SECRET`, `  API_KEY: "******`],
  [`  url: https://user:SECRET@host # SECRET`, `  url: ************************ * ******`],
  [`  password: correct horse: battery`, `  password: ******* *****: *******`],
  [`  - SECRET==`, `  - ********`],
  [`  - --token=SECRET`, `  - **************`],
  [`  - id: db`, `  - id: db`],
  [`    SECRET of a long text`, `    ****** ** * **** ****`],
  [`token = "SECRET"`, `token = "******"`],
  [`token="SECRET"`, `token="******"`],
  [`{ TOKEN: SECRET, enabled: true, port: 8080 }`, `{ TOKEN: ******, enabled: true, port: 8080 }`],
  [`"command":"API_KEY=SECRET npx -y"`, `"command":"************** *** **"`],
  [`"command": ["API_KEY=SECRET", "npx"]`, `"command": ["**************", "***"]`],
  [`"args": ["SECRET": "x", "command" "SECRET"]`, `"args": ["******": "*", "command" "******"]`],
  [`[{"id": "a"}, SECRET: x], "command": "y"`, `[{"id": "a"}, ******: *], "command": "y"`],
] as const)("P1.9: of %s an excerpt shows no value that may be a secret", ([line, shown]) => {
  expect(maskedLine(line, { from: 0, to: 200, words: CONFIG_WORDS })).toBe(shown);
});

test("a part of a very long line is masked quickly, even if its context is unknown", async () => {
  const line = `{"${"key".repeat(1_000_000)}": "SECRET", "a": "SECRET" }`;
  let part = "";
  expect(
    await cpuMsOf(() => (part = maskedLine(line, { from: line.length - 30, to: line.length, words: CONFIG_WORDS }))),
  ).toBeLessThan(2_000);
  expect(part).not.toContain("SECRET");
});
