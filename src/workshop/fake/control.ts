import { failureIn, type Failures } from "./failures.ts";
import type { FakeReply } from "./reply.ts";
import type { SeenRequest } from "./responder.ts";

/** The path for inspecting a fake and for making it fail. */
export const CONTROL = "/__fake";

const USAGE = `{"fail": {"status": 503} | {"delayMs": 2000} | {"cut": true} | {"broken": true} | {"offSchema": true} | null, "times": 1, "tool": "…"}`;

/** `GET`: the received requests. `POST {"fail": …, "times": 1}`: how the next ones fail; null for no failure. */
export function controlled(
  { method, type, body }: { method: string; type: string | undefined; body: Uint8Array },
  { requests, failures }: { requests: readonly SeenRequest[]; failures: Failures },
): FakeReply {
  if (method === "GET") return json(200, { requests });
  // A page in a browser cannot send this type to another origin without permission.
  if (method !== "POST" || type !== "application/json") {
    return json(405, { error: "GET, or POST with Content-Type: application/json" });
  }
  const { fail, times = 1, tool } = orderIn(body);
  if (fail === null) {
    failures.clear();
    return json(200, { failing: null });
  }
  const failure = failureIn(fail);
  if (!failure || typeof times !== "number" || !(times >= 1)) return json(400, { error: `write ${USAGE}` });
  failures.add(failure, times, typeof tool === "string" ? tool : undefined);
  return json(200, { failing: failure, times });
}

function json(status: number, value: unknown): FakeReply {
  return { status, type: "application/json", body: JSON.stringify(value) };
}

function orderIn(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
