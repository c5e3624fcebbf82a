import { Failed } from "../http/problem.ts";
import { defineOperation } from "./api-context.ts";

const streamEvents = defineOperation({
  id: "streamEvents",
  method: "GET",
  path: "/events",
  tag: "events",
  summary: "What changes, as server-sent events",
  description:
    "The event `ready` comes first; then `change` with `topic` (`state`, `tools`, `servers`, `keys`, `sets`, `definitions`, `apis`, `tenants`), `tenant`, and `server` and `state` where they apply. The details are in the resources. With `Last-Event-ID` the stream goes on where it ended, or begins again with `ready` where that is not known. A comment comes every 15 seconds. The stream ends with the key or session of its reader.",
  access: "operator",
  answer: { status: 200, mediaType: "text/event-stream" },
  fails: [429],
  async handle({ api, actor, session, headers }) {
    const last = headers["last-event-id"];
    const stream = await api.events.open(actor, session, typeof last === "string" ? last : undefined);
    if (!stream) return TOO_MANY;
    return new Response(stream, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
  },
});

export const EVENT_OPERATIONS = [streamEvents];

const TOO_MANY = new Failed({
  status: 429,
  code: "RATE_LIMITED",
  detail: "There are too many event streams",
  hint: "Close one of them first.",
  headers: { "retry-after": "5" },
});
