import { type HttpRefusal, invalidRequest } from "./http-refusal.ts";
import type { ForeignRequest } from "./http-listener.ts";

/** What the server is called, and how its options are written. */
export interface HttpWords {
  self: string;
  allowHost: string;
  allowOrigin: string;
  /** Followed by a value. */
  port: string;
  /** Followed by a value. */
  address: string;
}

/** For programs that use the library. */
export const PLAIN_WORDS: HttpWords = {
  self: "server",
  allowHost: "allowedHosts",
  allowOrigin: "allowedOrigins",
  port: "port:",
  address: "address:",
};

/** How a request is answered that must not be served. */
export function refusalOf({ reason, value }: ForeignRequest, words: HttpWords): HttpRefusal {
  const { self, allowHost, allowOrigin } = words;
  const shown = JSON.stringify(value);
  switch (reason) {
    case "repeated header":
      return invalidRequest(`The request has more than one ${value} header`);
    case "host":
      return invalidRequest(`Host ${shown} is not an allowed name of this ${self}. Allow it with ${allowHost}`, 403);
    case "origin":
      return invalidRequest(`Pages of ${shown} may not call this ${self}. Allow them with ${allowOrigin}`, 403);
    case "site":
      return invalidRequest(`Pages of other sites may not call this ${self} (Sec-Fetch-Site: ${value})`, 403);
  }
}
