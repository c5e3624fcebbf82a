import type { ForeignRequest } from "../../net/origin-guard.ts";
import { invalidRequest, type HttpRefusal } from "./http-refusal.ts";

/** How the gateway answers a request that it must not serve. */
export function refusalOf({ reason, value }: ForeignRequest): HttpRefusal {
  const shown = JSON.stringify(value);
  switch (reason) {
    case "repeated header":
      return invalidRequest(`The request has more than one ${value} header`);
    case "host":
      return invalidRequest(
        `Host ${shown} is not a name of this gateway; allow it with --allow-host, or allowedHosts`,
        403,
      );
    case "origin":
      return invalidRequest(
        `Pages of ${shown} may not call this gateway; allow them with --allow-origin, or allowedOrigins`,
        403,
      );
    case "site":
      return invalidRequest(`A page of another site may not call this gateway (Sec-Fetch-Site: ${value})`, 403);
  }
}
