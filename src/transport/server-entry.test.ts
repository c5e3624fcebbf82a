import { expect, test } from "vitest";
import { NexusError } from "../errors/nexus-error.ts";
import { resolveEntry, type ServerEntry } from "./server-entry.ts";

test("spellings are unified and durations parsed", () => {
  const entry = {
    id: "a",
    command: ["node", "x.js"],
    args: ["--y"],
    workdir: "/srv",
    timeout: "1.5s",
    connection_timeout: 200,
    headers: null,
  };
  expect(resolveEntry(entry as unknown as ServerEntry)).toMatchObject({
    id: "a",
    reach: { kind: "stdio", command: "node", args: ["x.js", "--y"], cwd: "/srv", env: {}, passthrough: [] },
    timeoutMs: 1_500,
    connectTimeoutMs: 200,
  });
  expect(resolveEntry({ url: new URL("https://example.com/mcp"), type: "sse" }).reach).toEqual({
    kind: "sse",
    url: "https://example.com/mcp",
    headers: {},
  });
  expect(
    resolveEntry({ command: "x", roots: ["/srv/a b", "file:///c", { uri: "file:///d", name: "d" }] }).roots,
  ).toEqual([{ uri: "file:///srv/a%20b" }, { uri: "file:///c" }, { uri: "file:///d", name: "d" }]);
});

test.each([
  [undefined, "not an object"],
  ["http://example.com", "not an object"],
  [[], "not an object"],
  [{}, "neither"],
  [{ command: null }, "neither"],
  [{ command: "a", url: "b" }, "both"],
  [{ command: "" }, "empty"],
  [{ command: 5 }, `"command" must be text or a list, not a number`],
  [{ command: "node", args: "server.js" }, `"args" must be a list, not text`],
  [{ command: "node", args: { a: 1 } }, `"args" must be a list, not an object`],
  [{ command: "node", args: [8080] }, `"args[0]" must be text, not a number`],
  [{ command: "node", cwd: 5 }, `"cwd" must be text, not a number`],
  [{ command: "node", env: { PORT: 80 } }, `"env.PORT" must be text, not a number`],
  [{ command: "node", env_passthrough: "HOME" }, `"env_passthrough" must be a list, not text`],
  [{ command: "node", type: "http" }, `the type "http"`],
  [{ url: "http://a", type: "nonsense" }, `"type" must be stdio, http or sse, not "nonsense"`],
  [{ url: 5 }, `"url" must be text, not a number`],
  [{ url: "http://a", headers: "x" }, `"headers" must be an object, not text`],
  [{ url: "http://a", headers: new Headers() }, `"headers" must be an object, not an instance of a class`],
  [{ url: "http://a", timeout: "abc" }, `"timeout" is not a duration`],
  [{ url: "http://a", timeout: -1 }, `"timeout" is not a duration`],
  [{ url: "http://a", http_max_retries: "x" }, `"http_max_retries"`],
  [{ command: "x", roots: "/tmp" }, `"roots" must be a list, not text`],
  [{ command: "x", roots: [""] }, `"roots[0]" is neither a path nor an object`],
  [{ command: "x", roots: [5] }, `"roots[0]" is neither a path nor an object`],
  [{ command: "x", id: 5 }, `"id" must be text, not a number`],
])("the entry %j is refused with what is wrong", (entry, problem) => {
  const refused = () => resolveEntry(entry as unknown as ServerEntry);
  expect(refused).toThrow(NexusError);
  expect(refused).toThrow(problem);
  expect(refused).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});

test.each([
  ["command", 42, ["node"]],
  ["command", ["node", 42], ["node", "42"]],
  ["args", "server.js --name 'a b'", ["server.js", "--name", "a b"]],
  ["args", 'say "it is open', ["say", '"it', "is", "open"]],
  ["args", "", []],
  ["args", 8080, ["8080"]],
  ["args", ["--port", 8080, true], ["--port", "8080", "true"]],
  ["args", [{ port: 8080 }], ["--port", "8080"]],
  ["env_passthrough", "HOME LANG", ["HOME", "LANG"]],
])("P1.9: the hint about a wrong %s (%j) is JSON that can be pasted", (key, value, words) => {
  const refused = failureOf({ command: "node", [key]: value });
  const entry = JSON.parse(`{${/"\w+": .*(?=\.$)/.exec(refused.hint ?? "")?.[0] ?? ""}}`) as ServerEntry;
  const { reach } = resolveEntry({ command: "node", ...entry });

  expect([entry[key as "args"]].flat()).toEqual(words);
  expect(reach.kind).toBe("stdio");
});

test.each([
  [{ env: "A=b" }, `Write it as an object: "env": { "LOG_LEVEL": "debug" }.`],
  [{ env: { A: null } }, "Write a text in quotes, or remove it."],
  [{ env: { A: 5 } }, "Put its value in quotes."],
  [{ cwd: ["/srv"] }, "Write one text in quotes, without brackets."],
  [{ roots: "/srv/docs" }, `Write it as a list: "roots": ["/srv/docs"].`],
  [{ roots: [5] }, `Write paths: "roots": ["."].`],
  [{ http_max_retries: "2" }, `Write it without quotes: "http_max_retries": 2.`],
  [{ http_max_retries: -1 }, `Write "http_max_retries": 2, or 0 for no retries.`],
])("P1.9: the hint about the wrong value in %j says what to write", (wrong, hint) => {
  expect(failureOf({ command: "node", ...wrong }).hint).toBe(hint);
});

test("a hint about arguments in one text masks what looks secret in them", () => {
  const { hint } = failureOf({ command: "node", args: "server.js --token not-a-real-token" });

  expect(hint).toBe('Write it as a list: "args": ["server.js", "--token", "•••"].');
});

function failureOf(entry: unknown): NexusError {
  try {
    resolveEntry(entry as ServerEntry);
  } catch (error) {
    if (error instanceof NexusError) return error;
  }
  throw new Error("The entry was accepted.");
}
