import type { ErrorObject } from "../protocol/json-rpc.ts";

/** Thrown by a handler, it becomes the JSON-RPC error that the client gets. */
export class ScriptedError extends Error {
  override readonly name = "ScriptedError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  toObject(): ErrorObject {
    return { code: this.code, message: this.message, ...(this.data === undefined ? {} : { data: this.data }) };
  }
}
