import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import { toFailedFinding, ok } from "./check.ts";
import { Checkup } from "./checkup.ts";
import { reportLines, summaryLine, wrapped, type Sheet } from "./mcp-doctor.ts";

const PLAIN: Sheet = { style: (_style, text) => text, typed: (text) => text, columns: undefined };

function examined() {
  const checkup = new Checkup();
  checkup.kind = "stdio";
  for (const id of ["configuration", "enabled", "trusted", "variables", "command", "folder"] as const) {
    checkup.set(id, ok("yes"));
  }
  const error = new NexusError("SERVER_EXITED", "It ended", { hint: "Read what it says.", stderr: ["\u001b[2Jbye"] });
  checkup.set("starts", toFailedFinding(error));
  return checkup.result("notes");
}

test("a line for each check, evidence and advice below it, and one line for all that was skipped", () => {
  expect(reportLines(examined(), "node", PLAIN)).toEqual([
    "notes  node",
    "  ✓ configuration    yes",
    "  ✓ enabled          yes",
    "  ✓ trusted          yes",
    "  ✓ variables        yes",
    "  ✓ command          yes",
    "  ✓ working folder   yes",
    "  ✗ starts           It ended",
    "                     stderr: \\x1b[2Jbye",
    "                     → Read what it says.",
    '  - not checked      stdout clean, protocol, capabilities, lists, schemas, model providers, annotations, latency, stderr at start, shutdown: because "starts" failed',
  ]);
});

test("lines fit into a narrow terminal", () => {
  const lines = reportLines(examined(), "node", { ...PLAIN, columns: 60 });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  expect(lines.at(-1)).toMatch(/^ {21}\S/);
});

test("long words stay whole, so that they can be copied", () => {
  expect(wrapped("see https://example.com/a/very/long/address now", 20)).toEqual([
    "see",
    "https://example.com/a/very/long/address",
    "now",
  ]);
});

test("the summary counts, and names what failed", () => {
  const good = { server: "a", verdict: "note" as const, checks: [], failures: [] };
  expect(summaryLine([good, examined()], 1, PLAIN)).toBe("2 servers checked, 1 OK, 1 failed (notes), 1 unusable file");
});
