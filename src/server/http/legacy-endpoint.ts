import type { IncomingMessage, ServerResponse } from "node:http";
import type { Core } from "../core/core.ts";
import type { Principal } from "../core/principal.ts";

/** Who asks at which endpoint. */
export interface Visitor {
  core: Core;
  principal: Principal;
}

/** What was posted. */
export interface PostedBody {
  /** One message or a batch, as it was parsed. */
  body: unknown;
  /** Called once, when nothing of the body is needed any more. */
  onDone?: (() => void) | undefined;
}

/** Who serves clients before 2026-07-28, behind the same paths. */
export interface LegacyEndpoint {
  post(req: IncomingMessage, res: ServerResponse, r: Visitor, posted: PostedBody): Promise<void>;
  get(req: IncomingMessage, res: ServerResponse, r: Visitor): Promise<void>;
  delete(req: IncomingMessage, res: ServerResponse, r: Visitor): Promise<void>;
  /** HTTP+SSE of 2024-11-05. */
  openSse(req: IncomingMessage, res: ServerResponse, r: Visitor): void;
  postSse(req: IncomingMessage, res: ServerResponse, r: Visitor & PostedBody & { url: URL }): Promise<void>;
  readonly sessions: number;
  close(): Promise<void>;
}
