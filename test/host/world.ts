import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Host, type HostEntry, type HostOptions, type ServerState } from "../../src/index.ts";

const FAST = { firstMs: 20, longestMs: 100, settledMs: 60_000 };

/** A folder of its own for hosts and what their servers write. */
export class HostWorld implements AsyncDisposable {
  readonly folder: string;

  static async open(): Promise<HostWorld> {
    return new HostWorld(await mkdtemp(join(tmpdir(), "nexus-host-")));
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  host(servers: Record<string, HostEntry>, options: HostOptions = {}): Promise<Host> {
    return Host.open({ servers, stateFolder: this.path("state"), backoff: FAST, ...options });
  }

  /** The processes that wrote their numbers into this file. */
  async pids(name: string): Promise<number[]> {
    const text = await readFile(this.path(name), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function stateOf(host: Host, id: string): ServerState | undefined {
  return host.servers().find((server) => server.id === id)?.state;
}

export async function until(host: Host, id: string, kind: ServerState["kind"]): Promise<void> {
  await expect.poll(() => stateOf(host, id)?.kind).toBe(kind);
}

export function toolNames(host: Host): string[] {
  return host.tools().map(({ tool }) => tool.name);
}

/** What a tool answered. */
export function textOf({ content }: { content: { text?: unknown }[] }): string {
  return String(content[0]?.text);
}
