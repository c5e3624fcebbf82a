import type { Deadlines } from "../async/deadlines.ts";

/** The part of undici's dispatcher that is used here. */
export interface Dispatcher {
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean;
  destroy(): Promise<void>;
}

export interface DispatchOptions {
  origin: string;
  path: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "QUERY";
  /** By name, or names and values in turn. */
  headers: Record<string, string> | string[];
  body?: string | Uint8Array;
  headersTimeout: number;
  bodyTimeout: number;
}

export interface DispatchController {
  abort(reason: Error): void;
}

export interface DispatchHandler {
  onRequestStart(controller: DispatchController): void;
  onResponseStart(
    controller: DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void;
  onResponseData(controller: DispatchController, chunk: Uint8Array): void;
  onResponseEnd(controller: DispatchController): void;
  onResponseError(controller: DispatchController, error: Error): void;
}

/** Outgoing HTTP as transports see it, whatever sends the requests. */
export interface HttpNetwork extends AsyncDisposable {
  /** Which addresses may be reached; undefined: all. */
  readonly guard: { check(url: URL): void } | undefined;
  /** Of all its requests. */
  readonly deadlines: Deadlines;
  /** Where requests to an origin go that carry a credential. */
  dispatcher(origin: string, credential: string): Promise<Dispatcher>;
  /** The proxy for requests to an origin, without its password. */
  proxyFor(origin: string): string | undefined;
  close(): Promise<void>;
}
