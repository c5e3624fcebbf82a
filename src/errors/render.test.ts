import { expect, test } from "vitest";
import { NexusError } from "./nexus-error.ts";
import { renderForPeople, renderForPrograms } from "./render.ts";

const error = new NexusError("SERVER_EXITED", `Server "db" exited with code 1`, {
  phase: "handshake",
  server: "db",
  source: { file: "mcp.json", line: 12 },
  command: "node db.js",
  exitCode: 1,
  stderr: ["no such \u001b[31mtable"],
  hint: "Run its command by hand.",
});

test("people read what happened, where, the server's own words without its escapes, and what to do", () => {
  expect(renderForPeople(error)).toBe(
    [
      `Server "db" exited with code 1`,
      "  command: node db.js",
      "  configured in: mcp.json:12",
      "  the server's last lines on stderr:",
      "    no such \\x1b[31mtable",
      "  Run its command by hand.",
    ].join("\n"),
  );
});

test("programs get one object, without fields that do not apply", () => {
  expect(renderForPrograms(error)).toEqual({
    error: {
      code: "SERVER_EXITED",
      message: `Server "db" exited with code 1`,
      hint: "Run its command by hand.",
      phase: "handshake",
      server: "db",
      source: { file: "mcp.json", line: 12 },
      command: "node db.js",
      exitCode: 1,
      stderr: ["no such \u001b[31mtable"],
    },
  });
});

test("more can be told about an error without losing what was known", () => {
  const more = error.with({ server: "other", url: "http://a/" });
  expect(more.details).toMatchObject({ server: "db", url: "http://a/", exitCode: 1 });
});
