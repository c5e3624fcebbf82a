import { invalidRequest, type HttpRefusal } from "./http-refusal.ts";
import type { ForeignRequest } from "./origin-guard.ts";

/** What the server is called, and how to allow a host or an origin there. */
export interface ForeignWords {
  self: string;
  allowHost: string;
  allowOrigin: string;
}

const PLAIN: ForeignWords = { self: "server", allowHost: "allowedHosts", allowOrigin: "allowedOrigins" };

/** How a request is answered that must not be served. */
export function refusalOf({ reason, value }: ForeignRequest, words = PLAIN): HttpRefusal {
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
