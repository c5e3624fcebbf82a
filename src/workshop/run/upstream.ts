import type { CancelSignal } from "../../async/cancellation.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isLoopback } from "../../text/loopback.ts";
import { AddressGuard } from "../../net/address-guard.ts";
import { AllowedPrefixes } from "../../net/allowed-url.ts";
import type { PublicOnly } from "../../net/public-only.ts";
import { guardedRequest } from "../../net/guarded-request.ts";
import { Network } from "../../net/network.ts";
import { standInFor } from "../file/model/stand-in.ts";
import type { RequestRate } from "./request-rate.ts";
import type { RequestSpec, UpstreamSpec } from "../file/model/tool-file.ts";

export interface OutgoingRequest {
  method: RequestSpec["method"];
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** The size limit of its answer, if it is smaller than that of all answers. */
  maxBytes?: number;
}

export interface UpstreamResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

interface UpstreamOptions {
  /** An address on this machine that replaces the real one: a fake. */
  binding?: string | undefined;
  /** Additional trusted certificate authorities (PEM). */
  ca?: readonly string[] | undefined;
  /** Refuses also a place on this machine, unless it is in `allow`; hosts in `allow` may be internal. */
  publicOnly?: PublicOnly | undefined;
  maxBytes?: number | undefined;
  /** Counts requests, and refuses those above the limit. */
  rate?: RequestRate | undefined;
  /** Addresses of the file beside its base: those of token endpoints. */
  others?: readonly string[] | undefined;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** Sends the requests of one API, only to its addresses. */
export class Upstream implements AsyncDisposable {
  /** What paths are resolved against; ends with a slash. */
  readonly base: string;
  /** The replacement of the real address, if there is one. */
  readonly standIn: string | undefined;
  readonly #allow: AllowedPrefixes;
  readonly #network: Network;
  readonly #maxBytes: number;
  readonly #rate: RequestRate | undefined;
  /** By base; those of the file. */
  readonly #origins = new Map<string, string>();
  #isClosed = false;

  constructor(spec: UpstreamSpec, options: UpstreamOptions = {}) {
    const { binding, ca, publicOnly, maxBytes = MAX_BYTES, others = [] } = options;
    const place = binding === undefined ? undefined : onThisMachine(binding);
    this.standIn = place?.href;
    this.base = place?.href ?? spec.base;
    this.#allow = new AllowedPrefixes(
      place ? [place.href, ...others.map((address) => this.addressOf(address))] : spec.allow,
    );
    const { allow, advice } = typeof publicOnly === "object" ? publicOnly : { allow: [] };
    const own = place && !publicOnly ? [place.hostname.replace(/^\[|\]$/g, "")] : [];
    const guard = new AddressGuard({ allow: [...allow, ...own], advice });
    this.#network = new Network({ guard, ca });
    this.#maxBytes = maxBytes;
    this.#rate = options.rate;
  }

  /** Where another address of the file is reached: with a replacement, at the same path of it. */
  addressOf(address: string): string {
    return this.standIn === undefined ? address : new URL(new URL(address).pathname, this.standIn).href;
  }

  /** The base of a request that has one of its own. A replacement has them under a path of their own. */
  baseOf(base: string | undefined): string {
    if (base === undefined) return this.base;
    return this.standIn === undefined ? base : standInFor(this.standIn, base);
  }

  /** The origin of a base of requests. */
  originOf(base: string): string {
    const known = this.#origins.get(base);
    if (known !== undefined) return known;
    const { origin } = new URL(base);
    this.#origins.set(base, origin);
    return origin;
  }

  send(request: OutgoingRequest, timeoutMs: number, signal?: CancelSignal): Promise<UpstreamResponse> {
    // After closing, a repeated request would open new connections that are never closed.
    if (this.#isClosed) {
      return Promise.reject(new NexusError("CLOSED", "This server was closed meanwhile", { mayHaveReached: false }));
    }
    const refusal = this.#rate?.take();
    if (refusal) return Promise.reject(refusal);
    const { method, url, headers, body } = request;
    const allow = this.#allow;
    const maxBytes = Math.min(this.#maxBytes, request.maxBytes ?? Infinity);
    return guardedRequest(this.#network, { method, url, headers, body, allow, timeoutMs, maxBytes, signal });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#network.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A replacement address is not part of the approval, so it must be on this machine. */
function onThisMachine(binding: string): URL {
  const url = URL.canParse(binding) ? new URL(binding) : undefined;
  if (
    !url ||
    !isLoopback(url.hostname) ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new NexusError("CONFIG_INVALID", "An upstream that replaces the real one must be on this machine", {
      phase: "config",
      hint: `Write "fake", or an address like "http://127.0.0.1:8080/path/".`,
      mayHaveReached: false,
    });
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}
