import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, type ConnectOptions } from "../../src/index.ts";
import { WAYS } from "../fixtures/reach.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import type { TranscriptEntry } from "../fixtures/servers/transcript.ts";
import { answerAnything, CAPABILITIES, useEverything } from "./every-primitive.ts";
import { SdkJudge, SpecJudge } from "./judges.ts";
import { review, type Line } from "./review.ts";
import { SPEC_IS_HERE } from "./spec.ts";

type Way = (typeof WAYS)[number];

/** What clients and servers may say, as the schemas name it. */
const ANYTHING = ["Request", "Notification", "Result"].flatMap((kind) => [`Client${kind}`, `Server${kind}`]);

/** Compiling its definitions takes longer than all the messages of a conversation. */
const judges = new Map<string, SpecJudge>();
function judgeOf(revision: string): SpecJudge {
  const judge = judges.get(revision) ?? new SpecJudge(revision);
  judges.set(revision, judge);
  return judge;
}

describe.each(WAYS)("over $transport, $revision", (way) => {
  test("every message of both ends conforms to the schemas (N7, P1.2)", async () => {
    const lines = await transcriptOf(way);
    const bySdk = review(lines, new SdkJudge());
    expect(bySdk.complaints).toEqual([]);
    expect(bySdk.compared.size).toBeGreaterThan(20);
    if (!SPEC_IS_HERE) {
      console.log("The specification's schemas are not here: only the SDK's were compared.");
      return;
    }
    const judge = judgeOf(way.revision);
    const bySpec = review(lines, judge);
    expect(bySpec.complaints).toEqual([]);
    const unseen = ANYTHING.flatMap((name) => judge.choices(name)).filter((name) => !bySpec.compared.has(name));
    expect(new Set(unseen)).toEqual(new Set(neverSaid(way)));
  });
});

describe("a message that breaks its schema is found:", () => {
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "any" } };
  const content = [{ type: "hologram" }];
  const faults: { fault: string; direction: Line["direction"]; message: unknown }[] = [
    { fault: "no version of JSON-RPC", direction: "in", message: { id: 2, method: "ping" } },
    { fault: "an unknown kind of content", direction: "out", message: { jsonrpc: "2.0", id: 1, result: { content } } },
    { fault: "an answer to nothing", direction: "out", message: { jsonrpc: "2.0", id: 2, result: {} } },
    { fault: "a call without a name", direction: "in", message: { ...request, params: {} } },
  ];

  test.each(faults)("$fault", ({ direction, message }) => {
    const lines: Line[] = [
      { direction: "in", message: request },
      { direction, message },
    ];
    const judges = [new SdkJudge(), ...(SPEC_IS_HERE ? [judgeOf("2024-11-05"), judgeOf("2025-11-25")] : [])];
    for (const judge of judges) expect(review(lines, judge).complaints).not.toEqual([]);
  });

  test.runIf(SPEC_IS_HERE)("a request of a modern server", () => {
    const message = { jsonrpc: "2.0", id: 1, method: "roots/list" };
    const { complaints } = review([{ direction: "out", message }], judgeOf("2026-07-28"));
    expect(complaints).toEqual([expect.stringContaining("this revision has no ServerRequest")]);
  });
});

/** Definitions that no message of a whole conversation has, and why. */
function neverSaid({ transport, revision }: Way): string[] {
  const names = ["Result"]; // What all results have in common: each was compared with its own.
  if (revision === "2025-11-25") names.push("TaskStatusNotification"); // Optional; the test server does without.
  if (revision === "2026-07-28" && transport === "http") names.push("CancelledNotification"); // The stream is closed.
  return names;
}

/** All that passed between our client and the test server while everything was used once. */
async function transcriptOf({ transport, revision }: Way): Promise<Line[]> {
  const input = { capabilities: CAPABILITIES, handle: answerAnything };
  // Pinned: the probe of another revision has no place in this one's schema.
  const options: ConnectOptions = { protocolVersion: revision, input };
  return transport === "stdio" ? overStdio(revision, options) : overHttp({ transport, revision }, options);
}

async function overHttp(
  { transport, revision }: { transport: "http" | "sse"; revision: Way["revision"] },
  options: ConnectOptions,
): Promise<Line[]> {
  await using server = await startHttpFixture({ revision, pageSize: 7 });
  {
    const url = transport === "sse" ? server.sseUrl : server.url;
    await using client = await connect({ type: transport, url }, options);
    await useEverything(client);
  }
  return linesOf(server.transcript.entries);
}

async function overStdio(revision: Way["revision"], options: ConnectOptions): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), "nexus-transcript-"));
  const file = join(folder, "transcript.jsonl");
  try {
    {
      const flags = ["--revision", revision, "--page-size", "7", "--transcript", file];
      await using client = await connect(stdioFixture(flags), options);
      await useEverything(client);
    }
    const text = await readFile(file, "utf8");
    const entries = text.split("\n").filter((line) => line !== "");
    return linesOf(entries.map((line) => JSON.parse(line) as TranscriptEntry));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function linesOf(entries: readonly TranscriptEntry[]): Line[] {
  return entries.filter((entry) => "message" in entry).map(({ direction, message }) => ({ direction, message }));
}
