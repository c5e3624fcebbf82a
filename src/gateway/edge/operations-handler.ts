import type { IncomingMessage, ServerResponse } from "node:http";

/** Serves `/api/v1` and `/console`, for those who operate the gateway. It finds out by itself who calls. */
export interface OperationsHandler {
  serve(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Ends what has no end of its own. */
  drain(): void;
}
