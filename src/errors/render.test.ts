import { expect, test } from "vitest";
import { NexusError } from "./nexus-error.ts";
import { renderForPeople, renderForPrograms } from "./render.ts";

const error = new NexusError("SERVER_EXITED", `Server "db" exited with code 1`, {
  phase: "handshake",
  server: "db",
  source: { file: "mcp.json", line: 12, layer: "project" },
  command: "node db.js",
  exitCode: 1,
  stderr: ["no such \u001b[31mtable"],
  likelyCause: "The database is empty.",
  hint: "Run its command by hand.",
  snippet: `"env": {\n  "DB": "main"\n}`,
});

test("people read what happened, where, why, the server's own words without its escapes, and what to do (P1.9)", () => {
  expect(renderForPeople(error, "linux")).toBe(
    [
      `Server "db" exited with code 1`,
      "  file:         mcp.json:12 (project)",
      "  command:      node db.js",
      "  likely cause: The database is empty.",
      "  stderr:       no such \\x1b[31mtable",
      "  fix:          Run its command by hand.",
      `  example:      "env": {`,
      `                  "DB": "main"`,
      "                }",
    ].join("\n"),
  );
});

test("an error with only a message is one line (P1.9)", () => {
  expect(renderForPeople(new NexusError("CLOSED", "The connection was closed"))).toBe("The connection was closed");
});

test("an excerpt of the file is shown below its place (P1.9)", () => {
  const invalid = new NexusError("CONFIG_INVALID", "Not valid JSON", {
    source: { file: "mcp.json", line: 3, column: 5 },
    excerpt: "3 | {]}\n  |  ^",
  });
  expect(renderForPeople(invalid)).toBe(
    ["Not valid JSON", "  file: mcp.json:3:5", "        3 | {]}", "          |  ^"].join("\n"),
  );
});

test("a server's text cannot imitate a line of the report, control the terminal or change its direction (P1.9, R8)", () => {
  const spoof = new NexusError("SERVER_ERROR", "bad\n  fix: rm -rf /\r\u009b2J", { stderr: ["\u202egnp.exe\u0000"] });
  expect(renderForPeople(spoof)).toBe(
    ["bad", "    fix: rm -rf /\\x0d\\x9b2J", "  stderr: \\u202egnp.exe\\x00"].join("\n"),
  );
});

test("things to try are written for the reader's system (P1.9)", () => {
  const busy = new NexusError("SERVER_EXITED", "gone", { stderr: ["listen EADDRINUSE: in use 127.0.0.1:3000"] });
  expect(renderForPeople(busy, "darwin")).toContain("try:    lsof -i :3000");
  expect(renderForPeople(busy, "win32")).toContain("try:    netstat -ano | findstr :3000");

  const cause = Object.assign(new Error("self-signed"), { code: "SELF_SIGNED_CERT_IN_CHAIN" });
  const untrusted = new NexusError("CONNECTION_FAILED", "not trusted", { cause, url: "https://a.example/mcp" });
  expect(renderForPeople(untrusted, "linux")).toContain("export NODE_EXTRA_CA_CERTS=");
  expect(renderForPeople(untrusted, "win32")).toContain("set NODE_EXTRA_CA_CERTS=");

  const refused = new NexusError("CONNECTION_FAILED", "refused", { url: "http://a.example/mcp" });
  expect(renderForPeople(refused, "win32")).toContain("curl.exe -v http://a.example/mcp");
});

test("programs get one object with the documented fields, without those that do not apply (P1.9)", () => {
  expect(renderForPrograms(error)).toEqual({
    error: {
      code: "SERVER_EXITED",
      message: `Server "db" exited with code 1`,
      hint: "The database is empty. Run its command by hand.",
      phase: "handshake",
      server: "db",
      source: { file: "mcp.json", line: 12 },
      command: "node db.js",
      exitCode: 1,
      stderr: ["no such \u001b[31mtable"],
    },
  });
});

test("details can be added to an error without losing existing ones", () => {
  const more = error.with({ server: "other", url: "http://a/" });
  expect(more.details).toMatchObject({ server: "db", url: "http://a/", exitCode: 1 });
});
