import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import type { ToolFile } from "../../src/workshop/file/model/tool-file.ts";
import { exampleSettings } from "../../src/workshop/run/setting-values.ts";
import { exampleFile } from "../fixtures/workshop/example.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { openCaller, type Caller, type CallerKind, type Reply } from "./callers.ts";

const API = fileURLToPath(new URL("../../api/", import.meta.url));

export interface ApiWorldOptions {
  api: string;
  /** By name as in the file: what the upstream takes, and what is stored. */
  secrets: Record<string, string>;
  /** Another tool file than the one of the package: it is checked and approved like any. */
  edit?: (text: string) => string;
  args?: readonly string[];
  /** What is there before the gateway starts. */
  prepare?: (world: NexusWorld, upstream: URL) => Promise<void>;
}

export type Endpoint = "/mcp" | "/servers/<id>/mcp";

/** An approved API behind `nexus serve`, and its upstream, which stands in this process and can be looked at. */
export class ApiWorld implements AsyncDisposable {
  readonly world: NexusWorld;
  readonly fake: Fake;
  /** What the upstream answers from; may be changed while it runs. */
  readonly file: ToolFile;
  readonly api: string;
  /** Everything the gateway has written. */
  readonly output: { stdout: string; stderr: string };
  readonly url: URL;
  readonly #child: ChildProcess;
  readonly #callers: Caller[] = [];

  static async open({ api, secrets, edit, args = [], prepare }: ApiWorldOptions): Promise<ApiWorld> {
    const file = structuredClone(await exampleFile(api));
    file.fake.secrets = secrets;
    const fake = await startFake(file);
    const world = await NexusWorld.open();
    try {
      const folder = join(API, api);
      const path = edit ? await approvedCopy(world, folder, api, edit) : join(folder, `${api}.nexus.yaml`);
      await prepare?.(world, new URL(fake.url));
      const settings = exampleSettings(file);
      await world.configure({ [api]: { api: path, upstream: fake.url, settings } });
      // Afterwards: they are stored for the address that the entry has.
      for (const [name, value] of Object.entries(secrets)) {
        const { code, stderr } = await world.run(["secrets", "set", `${api}.${name}`], { stdin: value });
        // Short ones are stored with a warning.
        expect([code, stderr.replace(/^warning: .*\n/, "")]).toEqual([0, ""]);
      }
      const { child, output } = world.start(["serve", "--port", "0", "--verbose", ...args]);
      await vi.waitFor(() => expect(output.stdout).toContain("Ctrl-C"), { timeout: 20_000 });
      const url = new URL(/http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "");
      return new ApiWorld({ world, fake, file, api, child, output, url });
    } catch (error) {
      await fake.close();
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(
    parts: Pick<ApiWorld, "world" | "fake" | "file" | "api" | "output" | "url"> & { child: ChildProcess },
  ) {
    const { world, fake, file, api, output, url, child } = parts;
    this.world = world;
    this.fake = fake;
    this.file = file;
    this.api = api;
    this.output = output;
    this.url = url;
    this.#child = child;
  }

  /** A client at one of the endpoints; `reply` answers its questions, without it the client cannot be asked. */
  async caller(kind: CallerKind, endpoint: Endpoint = "/mcp", reply?: Reply): Promise<Caller> {
    const prefix = endpoint === "/mcp" ? { name: `${this.api}__`, uri: `${this.api}+` } : { name: "", uri: "" };
    const url = new URL(endpoint.replace("<id>", this.api), this.url);
    const caller = await openCaller(kind, { url, prefix, reply });
    this.#callers.push(caller);
    return caller;
  }

  /** Requests of a tool that the upstream has seen. */
  sent(tool: string): number {
    return this.fake.requests.filter((request) => request.tool === tool).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller.close()));
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
    await this.fake.close();
    await this.world[Symbol.asyncDispose]();
  }
}

/** As a user changes a file: checked, looked at, approved. */
async function approvedCopy(
  world: NexusWorld,
  folder: string,
  api: string,
  edit: (text: string) => string,
): Promise<string> {
  const copy = join(world.project, "api", api);
  await cp(folder, copy, { recursive: true });
  const name = `home/work/project/api/${api}/${api}.nexus.yaml`;
  const text = await world.read(name);
  const edited = edit(text);
  expect(edited).not.toBe(text);
  const path = await world.write(name, edited);
  const { code, stderr } = await world.run(["api", "approve", path, "--by", "Ada", "--yes"]);
  expect([code, stderr]).toEqual([0, ""]);
  return path;
}
