import type { CancelSignal } from "../async/cancellation.ts";
import type { ResponseHeaders } from "./transport.ts";

/** Authorizes the requests of connections: the transport asks it before each request and after a 401 or 403. */
export interface CredentialSource {
  /** Names the credential in caches and pools. It contains no secret and stays the same when a token is renewed. */
  readonly name: string;
  /**
   * Names the login in use, where a person has logged in. It stays the same when a token is renewed, and is another after
   * a new login, which may be that of another person: private answers are not kept from one to the next.
   */
  readonly loginName?: string | undefined;
  /** The headers for a request, where they are known without waiting; otherwise undefined. */
  findHeaders(request: AuthorizedRequest): CredentialHeaders | undefined;
  /** The headers for a request, after a token was fetched or a proof was signed. */
  getHeaders(request: AuthorizedRequest, signal?: CancelSignal): Promise<CredentialHeaders>;
  /**
   * Whether the request should be sent again, with the headers of then. False: the refusal is final. Rejects where a
   * credential is required and could not be obtained.
   */
  renew(refusal: Refusal, signal?: CancelSignal): Promise<boolean>;
}

export type CredentialHeaders = Readonly<Record<string, string>>;

export interface AuthorizedRequest {
  method: string;
  /** Without query and fragment. */
  url: string;
}

/** A request that was answered with 401 or 403. */
export interface Refusal {
  request: AuthorizedRequest;
  status: number;
  headers: ResponseHeaders;
  /** The headers with which it was sent: another request may have renewed them meanwhile. */
  sent: CredentialHeaders;
  /** How often this request was sent so far, from 1 on. */
  attempts: number;
}
