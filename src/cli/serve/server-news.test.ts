import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChangingServer, definition, tool } from "../../../test/gateway/definitions/pinned-world.ts";
import { Host } from "../../index.ts";
import { Output } from "../output/output.ts";
import { ServerNews } from "./server-news.ts";

class Notes extends Output {
  readonly lines: string[] = [];

  override note(text: string): void {
    this.lines.push(text);
  }
}

/** Fails with a time in its words, and from the fourth start on for another reason. */
const FAILING = `
  const fs = require("fs");
  fs.appendFileSync("starts", "x");
  const starts = fs.readFileSync("starts", "utf8").length;
  console.error(starts < 4 ? "[" + new Date().toISOString() + "] the database is locked" : "the disk is full");
  process.exit(1);`;

test("a server that keeps failing for the same reason is reported once, and again for another reason", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-news-"));
  const out = new Notes({ json: false, colours: false });
  const entry = { command: process.execPath, args: ["-e", FAILING], cwd: folder, protocolVersion: "2025-11-25" };
  await using host = await Host.open({
    servers: { notes: entry },
    stateFolder: join(folder, "state"),
    backoff: { firstMs: 1, longestMs: 5, settledMs: 60_000 },
  });
  using _news = ServerNews.follow(host, out);
  await expect.poll(() => out.lines.join("\n")).toContain("the disk is full");
  const failures = out.lines.filter((line) => line.startsWith("notes: failed"));
  expect(failures).toEqual([
    expect.stringMatching(/the database is locked$/),
    expect.stringMatching(/the disk is full$/),
  ]);
  await host.close();
  await rm(folder, { recursive: true });
});

test("a changed tool of a server in a pinned set is reported as held there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nexus-news-"));
  const out = new Notes({ json: false, colours: false });
  const server = new ChangingServer([tool("pay")]);
  await using host = await Host.open({ servers: {}, stateFolder: join(folder, "state") });
  host.pins.addPins((id) => id === "s");
  await host.setServers([definition(server, undefined)]);
  await host.ready();
  using _news = ServerNews.follow(host, out);
  await server.change([tool("pay", { title: "x" })]);
  await expect
    .poll(() => out.lines, { timeout: 10_000 })
    .toContain(`s: tool "pay" has changed; pinned sets hold it until it is accepted`);
  await host.close();
  await rm(folder, { recursive: true });
});
