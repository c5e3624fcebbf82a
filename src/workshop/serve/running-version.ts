import type { ToolHandler } from "../../server/features/features.ts";
import type { McpServer } from "../../server/features/mcp-server.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import type { ApiRunner } from "../run/api-runner.ts";
import { apiServer } from "./api-server.ts";

/** One version of an API, as it was approved. */
export interface ServedVersion {
  api: CompiledApi;
  /** The number under which it was published; else that of the file counts. */
  number?: string;
  /** With its fake and checks, where it is served from the file itself. */
  file?: ToolFile;
  /** The tool file as it was written, where it was published. */
  text?: string;
  /** It came over the network, so it reaches only public addresses. */
  isForeign?: boolean;
  /** The texts of its documents, by name. */
  documents: Readonly<Record<string, string>>;
}

/** What makes the requests of a version. */
export interface OpenedRunner {
  runner: ApiRunner;
  /** Also ends what belongs to the runner, such as its fake. */
  close: () => Promise<void>;
}

/** What a handler does when it is called; a versioned server decides whether it is the right one. */
export type RouteCall = (version: RunningVersion, tool: string, run: ToolHandler) => ToolHandler;

/** A call that ended with a question is repeated with the answer within this time, or begins again. */
const QUESTION_MS = 10 * 60_000;

/** A version of an API whose tools can be called. */
export class RunningVersion {
  readonly api: CompiledApi;
  /** Declares the tools and documents of this version. */
  readonly server: McpServer;
  /** What runs each tool in this version. */
  readonly handlers = new Map<string, ToolHandler>();
  /** Calls that were made by it since they were last counted. */
  calls = 0;
  readonly #opened: OpenedRunner;
  #keepUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #retired: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor({ api, documents, number }: ServedVersion, opened: OpenedRunner, route: RouteCall) {
    this.api = api;
    this.#opened = opened;
    this.server = apiServer(opened.runner, {
      documents,
      number,
      route: (tool, run) => {
        this.handlers.set(tool, run);
        return route(this, tool, run);
      },
      onQuestion: () => this.keepFor(QUESTION_MS),
    }).identifyTools(api.hash);
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** A version that is no longer current stays open at least so long. */
  keepFor(ms: number): void {
    this.#keepUntil = Math.max(this.#keepUntil, performance.now() + ms);
  }

  /** Closes after the last call, and after the last answer to its questions can have come. */
  retire(): Promise<void> {
    return (this.#retired ??= this.#retire());
  }

  close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#endPause?.();
    return (this.#closing ??= this.#opened.close());
  }

  async #retire(): Promise<void> {
    const { runner } = this.#opened;
    for (;;) {
      await runner.idle();
      const leftMs = this.#keepUntil - performance.now();
      if (this.isClosed || (leftMs <= 0 && runner.isIdle)) return this.close();
      await new Promise<void>((resolve) => {
        this.#endPause = resolve;
        this.#timer = setTimeout(resolve, Math.max(0, leftMs) + 1).unref();
      });
    }
  }
}
