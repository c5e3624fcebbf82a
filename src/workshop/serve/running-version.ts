import type { ToolHandler } from "../../server/features/features.ts";
import type { McpServer } from "../../server/features/mcp-server.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import type { ApiRunner } from "../run/api-runner.ts";
import { apiServer } from "./api-server.ts";

/** One version of an API, as it was approved. */
export interface ServedVersion {
  api: CompiledApi;
  /** With its fake and checks, where it is served from the file itself. */
  file?: ToolFile;
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
  readonly #opened: OpenedRunner;
  #askedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retired: Promise<void> | undefined;
  #endPause: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor({ api, documents }: ServedVersion, opened: OpenedRunner, route: RouteCall) {
    this.api = api;
    this.#opened = opened;
    this.server = apiServer(opened.runner, {
      documents,
      route: (tool, run) => {
        this.handlers.set(tool, run);
        return route(this, tool, run);
      },
      onQuestion: () => (this.#askedAt = performance.now()),
    });
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
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
    for (;;) {
      await this.#opened.runner.idle();
      const leftMs = this.#askedAt === undefined ? 0 : this.#askedAt + QUESTION_MS - performance.now();
      if (leftMs <= 0 || this.isClosed) return this.close();
      await new Promise<void>((resolve) => {
        this.#endPause = resolve;
        this.#timer = setTimeout(resolve, leftMs + 1).unref();
      });
    }
  }
}
