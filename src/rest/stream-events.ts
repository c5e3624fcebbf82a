import { NexusError } from "../errors/nexus-error.ts";
import { defineRestOperation } from "./rest-operation.ts";

export const streamEvents = defineRestOperation({
  id: "streamEvents",
  tag: "events",
  summary: "What changes, as server-sent events",
  description:
    "The event `ready` comes first; then `change` with `topic` (`state`, `tools`, `servers`, `keys`, `sets`, `definitions`, `apis`, `tenants`), `tenant`, and `server` and `state` where they apply. The details are in the resources. With `Last-Event-ID` the stream goes on where it ended, or begins again with `ready` where that is not known. A comment comes every 15 seconds. The stream ends with the key or session of its reader.",
  access: "operator",
  http: { method: "GET", path: "/events", status: 200, mediaType: "text/event-stream", fails: [429] },
  async handle({ events }, actor, _input, { session, headers }) {
    const last = headers["last-event-id"];
    const stream = await events.open(actor, session, typeof last === "string" ? last : undefined);
    if (stream) return stream;
    throw new NexusError("RATE_LIMITED", "There are too many event streams", {
      hint: "Close one of them first.",
      retryAfterMs: 5_000,
      mayHaveReached: false,
    });
  },
});
