import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { Actor } from "../access/actor.ts";
import type { RestOperation } from "./operation.ts";

/** A request that changes something, or would have, by someone who is known. */
export interface RecordedChange {
  /** As in the path; undefined where it has none, or one that the actor may not enter. */
  tenant: string | undefined;
  actor: Actor;
  /** `rest/createKey`. */
  method: string;
  /** The name or id of what it is about. */
  target: string | undefined;
  outcome: "ok" | "refused" | "error";
  errorCode: string | null;
  /** Milliseconds since 1970. */
  at: number;
  durationMs: number;
}

/** Whether requests of an operation are recorded. Signing out changes nothing that others use. */
export function isRecorded({ method, tag, access }: RestOperation<never>): boolean {
  return method !== "GET" && access !== "public" && tag !== "session";
}

/** The name or id of what a request is about, as far as it says so. */
export function targetOf(params: Readonly<Record<string, string>>, body: unknown): string | undefined {
  const inPath = params["id"] ?? params["name"];
  if (inPath !== undefined || !isRecord(body)) return inPath ?? params["tenant"];
  const { name, server, changes, before } = body;
  for (const named of [name, server, before]) if (typeof named === "string") return named;
  if (!Array.isArray(changes)) return params["tenant"];
  return changes.flatMap((each: unknown) => (isRecord(each) ? [String(each["id"])] : [])).join(" ");
}

const REFUSED: ReadonlySet<number> = new Set([403, 404, 429]);

export async function outcomeOf(response: Response): Promise<Pick<RecordedChange, "outcome" | "errorCode">> {
  const { status } = response;
  if (status < 400) return { outcome: "ok", errorCode: null };
  const problem = parseJson(await response.clone().text());
  const code = isRecord(problem) && typeof problem["code"] === "string" ? problem["code"] : null;
  return { outcome: REFUSED.has(status) ? "refused" : "error", errorCode: code };
}
