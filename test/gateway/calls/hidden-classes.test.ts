import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";
import { ModernCaller, WeighedGateway } from "../faults/faults-world.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

const CALLS = 500;
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** The hidden class that was made most often, and how often. */
async function mostMade(logFile: string): Promise<{ made: string; times: number }> {
  const counts = new Map<string, number>();
  for (const line of (await readFile(logFile, "utf8")).split("\n")) {
    // map,<kind>,<time>,<from>,<to>,<code>,<line>,<column>,<reason>,<name>
    const [event, kind, , , , , , , reason, name] = line.split(",");
    if (event !== "map" || kind === "map-details") continue;
    const made = `${kind} ${reason} ${name}`;
    counts.set(made, (counts.get(made) ?? 0) + 1);
  }
  const [[made, times] = ["nothing", 0]] = [...counts].sort(([, a], [, b]) => b - a);
  return { made, times };
}

interface Story {
  era: string;
  revision: string;
  capabilities: object;
}

async function makeCalls({ era, revision, capabilities }: Story, flags: readonly string[]): Promise<void> {
  await using gateway = await WeighedGateway.open({ up: stdioFixture(["--revision", revision]) }, {}, flags);
  const url = gateway.server("up");
  using modern = new ModernCaller(url);
  const legacy = era === "legacy" ? await LegacyWire.open(url, "2025-11-25", capabilities) : undefined;
  for (let call = 0; call < CALLS; call++) {
    const args = { a: call, b: 1 };
    if (legacy) await legacy.call("add_numbers", args);
    else await modern.tool("add_numbers", args, { capabilities });
  }
}

// `{ ...call, lease }` makes one for each object: a microsecond each, and garbage that only a full collection finds.
test.each<Story>([
  { era: "modern", revision: "2026-07-28", capabilities: {} },
  { era: "modern", revision: "2025-11-25", capabilities: CAPABILITIES },
  { era: "legacy", revision: "2025-11-25", capabilities: CAPABILITIES },
  { era: "legacy", revision: "2026-07-28", capabilities: {} },
])("calls of $era callers to servers of $revision make no hidden classes of their own", async (story) => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-maps-"));
  const logFile = join(folder, "maps.log");
  try {
    await makeCalls(story, ["--log-maps", "--no-log-maps-details", "--no-logfile-per-isolate", `--logfile=${logFile}`]);
    const { made, times } = await mostMade(logFile);
    expect(times, made).toBeLessThan(CALLS);
    // Without any the log would not be what it is taken for.
    expect(times).toBeGreaterThan(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
