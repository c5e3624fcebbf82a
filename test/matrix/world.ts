import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { SSEClientTransport as Sse1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { serve, type Gateway } from "../../src/gateway/index.ts";
import { Host, type HostEntry, type HostServers } from "../../src/index.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import type { TranscriptEntry } from "../fixtures/servers/transcript.ts";
import { SseChannel, StdioChannel, StreamableChannel } from "./channels.ts";
import { UPSTREAMS, type ClientKind, type Endpoint, type UpstreamKind } from "./definition.ts";
import { LegacyParty } from "./legacy-party.ts";
import { ModernParty, overHttp, overStdio } from "./modern-party.ts";
import { OwnParty } from "./own-party.ts";
import { type Answers, type Party, until } from "./party.ts";
import { Sdk1Party } from "./sdk1-party.ts";
import { Sdk2Party } from "./sdk2-party.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** The id of the only server behind the gateway. */
export const SERVER = "up";

/** One server, and gateways in front of it. */
export class MatrixWorld implements AsyncDisposable {
  readonly upstream: UpstreamKind;
  readonly #folder: string;
  readonly #fixture: HttpFixture | undefined;
  readonly #gateway: Gateway;

  static async open(upstream: UpstreamKind): Promise<MatrixWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-matrix-"));
    const { name, revision } = upstream;
    const fixture = name.endsWith("stdio") ? undefined : await startHttpFixture({ revision });
    const entry: HostEntry = fixture
      ? { url: name === "SSE" ? fixture.sseUrl : fixture.url, type: name === "SSE" ? "sse" : "http" }
      : stdioFixture(["--revision", revision, "--transcript", join(folder, "transcript")]);
    await writeFile(join(folder, "servers.json"), JSON.stringify({ mcpServers: { [SERVER]: entry } }));
    const host = await Host.open({ servers: { [SERVER]: entry }, stateFolder: join(folder, "state") });
    return new MatrixWorld(upstream, { folder, fixture, gateway: await serve({ host, port: 0 }) });
  }

  /** In front of another server than those of the table. */
  static async inFrontOf(entry: HostServers[string]): Promise<MatrixWorld> {
    const folder = await mkdtemp(join(tmpdir(), "nexus-matrix-"));
    const host = await Host.open({ servers: { [SERVER]: entry }, stateFolder: join(folder, "state") });
    const gateway = await serve({ host, port: 0 });
    await gateway.ready();
    return new MatrixWorld(UPSTREAMS[0], { folder, fixture: undefined, gateway });
  }

  private constructor(
    upstream: UpstreamKind,
    parts: { folder: string; fixture: HttpFixture | undefined; gateway: Gateway },
  ) {
    this.upstream = upstream;
    this.#folder = parts.folder;
    this.#fixture = parts.fixture;
    this.#gateway = parts.gateway;
  }

  /** Calls that the server itself knows to be cancelled; for those whose stream was left there is no message. */
  get cancelled(): number {
    return this.#fixture?.observations.cancelled.length ?? 0;
  }

  /** Everything the server has received and sent. */
  async transcript(): Promise<TranscriptEntry[]> {
    if (this.#fixture) return this.#fixture.transcript.entries;
    const text = await readFile(join(this.#folder, "transcript"), "utf8").catch(() => "");
    const lines = text.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as TranscriptEntry);
  }

  /** Waits until the server's own transcript shows such a message after its first `from` entries. */
  async sees(
    direction: "in" | "out",
    { what, from }: { what: string; from: number },
    fits: (message: Record<string, unknown>) => boolean,
  ): Promise<void> {
    await until(`${what} (${direction} in the server's transcript)`, async () => {
      const entries = (await this.transcript()).slice(from);
      return entries.some((entry) => {
        if (entry.direction !== direction) return false;
        return ([entry.message].flat() as Record<string, unknown>[]).some((message) => message && fits(message));
      });
    });
  }

  open(client: ClientKind, endpoint: Endpoint, answers: Answers): Promise<Party> {
    const url = this.#url(endpoint);
    const stdio = this.#stdio();
    const isStdio = endpoint === "--stdio";
    switch (client.kind) {
      case "own":
        return OwnParty.open(isStdio ? stdio : { url: url.href, type: endpoint === "/sse" ? "sse" : "http" }, answers);
      case "sdk1": {
        const transport = isStdio
          ? new Stdio1({ ...stdio, stderr: "ignore" })
          : endpoint === "/sse"
            ? new Sse1(url)
            : new Http1(url);
        return Sdk1Party.open(transport, answers);
      }
      case "sdk2":
        return Sdk2Party.open(isStdio ? new Stdio2({ ...stdio, stderr: "ignore" }) : new Http2(url), answers);
      case "wire": {
        if (client.revision !== "2026-07-28") {
          const channel = isStdio
            ? new StdioChannel(stdio)
            : endpoint === "/sse"
              ? new SseChannel(url.href)
              : new StreamableChannel(url.href);
          return LegacyParty.open(channel, client.revision, answers);
        }
        if (!isStdio) return Promise.resolve(new ModernParty(overHttp(url.href), answers));
        const channel = new StdioChannel(stdio);
        return Promise.resolve(new ModernParty(overStdio(channel), answers, () => channel.close()));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway.close();
    await this.#fixture?.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #url(endpoint: Endpoint): URL {
    const path = endpoint === "--stdio" ? "/mcp" : endpoint.replace("<id>", SERVER);
    return new URL(path, this.#gateway.url);
  }

  #stdio(): { command: string; args: string[]; env: Record<string, string> } {
    const home = { HOME: this.#folder, USERPROFILE: this.#folder, XDG_STATE_HOME: this.#folder };
    const args = [PROGRAM, "serve", "--stdio", "--config", join(this.#folder, "servers.json")];
    return { command: process.execPath, args, env: { PATH: process.env["PATH"] ?? "", ...home } };
  }
}
