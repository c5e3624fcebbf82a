import { expect, test } from "vitest";
import { resolveEntry, type ServerEntry } from "./server-entry.ts";
import { valuesToHide } from "./values-to-hide.ts";

const surroundings = {
  variables: { PASSED: "passed-value", HOME: "/home/ada" },
  platform: "linux" as const,
  home: "/home/ada",
  proxy: {},
  extraCertificates: [],
};

function hiddenOf(entry: ServerEntry): string[] {
  return [...new Set(valuesToHide(resolveEntry({ id: "github", ...entry }), surroundings))];
}

test("P1.9: values of variables are masked, except those that configure a program", () => {
  const env = {
    SOME: "a-value",
    LEVEL: "verbose",
    MODE: "1",
    PORT: "808080",
    NODE_ENV: "some-environment",
    HOME: "/home/other",
    DATA: "/srv/data",
    SERVER: "github",
  };
  expect(hiddenOf({ command: "x", env, env_passthrough: ["PASSED", "MISSING", "HOME"] })).toEqual([
    "passed-value",
    "a-value",
  ]);
});

test("P1.9: a short value, or one like a path, is masked if its name says that it is secret", () => {
  const env = {
    API_KEY: "k3y",
    DB_PASSWORD: "/p4/ss",
    "x-token": "abc",
    MAX_TOKENS: "4096",
    AUTH: "true",
    KEYBOARD: "de",
  };
  expect(hiddenOf({ command: "x", env })).toEqual(["k3y", "/p4/ss", "abc"]);
});

test("P1.9: the password inside a URL or header is also masked alone", () => {
  expect(hiddenOf({ command: "x", env: { DB: "postgres://ada:p%2Fw@db/x" } })).toEqual([
    "postgres://ada:p%2Fw@db/x",
    "postgres://ada:p/w@db/x",
    "p%2Fw",
    "p/w",
  ]);
  const basic = Buffer.from("ada:p4ssword").toString("base64");
  expect(
    hiddenOf({
      url: "https://x.example/mcp",
      headers: { authorization: `Basic ${basic}`, "user-agent": "some agent" },
    }),
  ).toEqual([`Basic ${basic}`, basic, "p4ssword"]);
  expect(hiddenOf({ url: "https://x.example/mcp", headers: { "X-Auth": "Bearer abc.def" } })).toEqual([
    "Bearer abc.def",
    "abc.def",
  ]);
});

test("P1.9: passwords and keys in URLs and arguments are masked", () => {
  expect(hiddenOf({ url: "https://ada:p4ss%2Fword@x.example/mcp?key=k-1&plain" })).toEqual([
    "ada:p4ss%2Fword",
    "ada:p4ss/word",
    "p4ss%2Fword",
    "p4ss/word",
    "k-1",
  ]);
  const args = ["--token", "t-1", "--api-key=t-2", "-y", "sh -c 'x --secret t-3'", "https://u:t-4@x.example/"];
  expect(hiddenOf({ command: "x", args })).toEqual(["t-1", "t-2", "t-3", "u:t-4", "t-4"]);
});
