import { customFetch } from "oauth4webapi";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { AuthHttp, OAuthRequestOptions } from "../oauth/auth-http.ts";

/** Options for requests to a token endpoint, whose answers are repaired where servers in use are known to be wrong. */
export function tokenHttp(http: AuthHttp, signal?: CancelSignal): OAuthRequestOptions {
  const options = http.with(signal && abortSignalOf(signal));
  return {
    ...options,
    [customFetch]: async (url, request) => repairedAnswer(await options[customFetch](url, request)),
  };
}

/**
 * Members that are null count as missing, an error with status 200 as a refusal, and a JSON object as JSON whatever its
 * type. Nothing else is changed.
 */
export async function repairedAnswer(response: Response): Promise<Response> {
  const document = parseJson(await response.clone().text());
  if (!isRecord(document)) return response;
  const members = Object.entries(document).filter(([, value]) => value !== null);
  const isRefusal = typeof document["error"] === "string" && typeof document["access_token"] !== "string";
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.set("content-type", "application/json");
  // The library reports the challenge instead of the error, which says more.
  if (isRefusal) headers.delete("www-authenticate");
  return new Response(JSON.stringify(Object.fromEntries(members)), {
    status: response.status === 200 && isRefusal ? 400 : response.status,
    headers,
  });
}
