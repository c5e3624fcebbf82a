import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";

/** The URL of a server to which a person can log in; undefined for all others. */
export function loginUrlOf({ entry }: ServerDefinition): URL | undefined {
  const reach = entry?.reach;
  if (!reach || !("url" in reach) || !URL.canParse(reach.url)) return undefined;
  if (reach.oauth === false || hasAuthorization(reach)) return undefined;
  const { grant = "authorization_code" } = reach.oauth ?? {};
  return grant === "authorization_code" || grant === "device_code" ? new URL(reach.url) : undefined;
}
