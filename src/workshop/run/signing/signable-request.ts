/** What of a request a signature depends on. */
export interface SignableRequest {
  method: string;
  /** As it is sent, with its query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
}
