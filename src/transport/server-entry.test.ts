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
  [{ command: 5 }, `"command" is a number, not a list`],
  [{ command: "node", args: "server.js" }, `"args" is a string, not a list`],
  [{ command: "node", args: { a: 1 } }, `"args" is an object, not a list`],
  [{ command: "node", args: [8080] }, `"args" has an item`],
  [{ command: "node", cwd: 5 }, `"cwd" is a number`],
  [{ command: "node", env: { PORT: 80 } }, `"env.PORT" is a number`],
  [{ command: "node", env_passthrough: "HOME" }, `"env_passthrough" is a string`],
  [{ command: "node", type: "http" }, `the type "http"`],
  [{ url: "http://a", type: "nonsense" }, `the type "nonsense"`],
  [{ url: 5 }, `"url" is a number`],
  [{ url: "http://a", headers: "x" }, `"headers" is not a plain object`],
  [{ url: "http://a", headers: new Headers() }, `"headers" is not a plain object`],
  [{ url: "http://a", timeout: "abc" }, `"timeout" is not a duration`],
  [{ url: "http://a", timeout: -1 }, `"timeout" is not a duration`],
  [{ url: "http://a", http_max_retries: "x" }, `"http_max_retries"`],
  [{ command: "x", roots: "/tmp" }, `"roots" is a string`],
  [{ command: "x", roots: [5] }, `"roots" has an item`],
  [{ command: "x", id: 5 }, `"id" is a number`],
])("the entry %j is refused with what is wrong", (entry, problem) => {
  const refused = () => resolveEntry(entry as unknown as ServerEntry);
  expect(refused).toThrow(NexusError);
  expect(refused).toThrow(problem);
  expect(refused).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
