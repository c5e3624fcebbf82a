import type { HiddenValues } from "../masking/hidden-values.ts";
import type { AuthorizedRequest, CredentialHeaders, CredentialSource } from "./credential-source.ts";
import { partsToHide } from "./values-to-hide.ts";

/** The headers of a connection's requests without credentials. They may change while it is open. */
interface PlainHeaders {
  readonly post: Record<string, string>;
  /** Of all other methods. */
  readonly get: Record<string, string>;
}

interface AuthorizedHeadersOptions {
  source: CredentialSource;
  url: URL;
  plain: PlainHeaders;
  /** Gets the tokens that are sent. */
  hidden: HiddenValues | undefined;
}

/**
 * Adds credentials to the requests of one connection. What all requests with one credential have in common is built
 * once, so that an authorized call costs no more than one with a fixed header.
 */
export class AuthorizedHeaders {
  readonly source: CredentialSource;
  readonly #origin: string;
  readonly #path: string;
  readonly #plain: PlainHeaders;
  readonly #hidden: HiddenValues | undefined;
  readonly #requests: Readonly<Record<string, AuthorizedRequest>>;
  /** The credential that is part of `#authorized`. */
  #credential: CredentialHeaders | undefined;
  #authorized: PlainHeaders;
  #lastToken: string | undefined;

  constructor({ source, url, plain, hidden }: AuthorizedHeadersOptions) {
    this.source = source;
    this.#origin = url.origin;
    this.#path = url.pathname + url.search;
    this.#plain = plain;
    this.#authorized = plain;
    this.#hidden = hidden;
    const address = url.origin + url.pathname;
    this.#requests = Object.fromEntries(["POST", "GET", "DELETE"].map((method) => [method, { method, url: address }]));
  }

  /** How the source sees a request. */
  requestFor(method: string, path: string): AuthorizedRequest {
    const known = path === this.#path ? this.#requests[method] : undefined;
    return known ?? { method, url: this.#origin + (path.split("?", 1)[0] ?? "") };
  }

  /** The headers of a request with this credential; `own` are those of its message. */
  headersFor(method: string, credential: CredentialHeaders, own: Record<string, string> | undefined) {
    if (credential !== this.#credential) this.#take(credential);
    const base = method === "POST" ? this.#authorized.post : this.#authorized.get;
    return own ? Object.assign({}, base, own) : base;
  }

  /** The plain headers have changed. */
  rebuild(): void {
    this.#credential = undefined;
  }

  #take(credential: CredentialHeaders): void {
    this.#credential = credential;
    this.#authorized = { post: { ...this.#plain.post, ...credential }, get: { ...this.#plain.get, ...credential } };
    const token = credential["authorization"];
    if (token === undefined || token === this.#lastToken) return;
    this.#lastToken = token;
    this.#hidden?.add(partsToHide(token));
  }
}
