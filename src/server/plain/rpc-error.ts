import type { ErrorObject } from "../../protocol/json-rpc.ts";

/** A failure that the client sees as a JSON-RPC error, unlike a tool's own failure, which is a result. */
export class RpcError extends Error {
  override readonly name = "RpcError";
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
