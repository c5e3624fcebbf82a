import { list, number, record, whole } from "../format/form.ts";
import { OUTCOMES } from "../gateway/operation/audit.ts";
import { answer, TEXT } from "./forms.ts";
import { defineOperation } from "./operation.ts";

const COUNTS = record(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, whole()])), { open: true });

const METRICS = answer("Metrics", {
  inFlight: whole().says("Calls that run now."),
  queued: whole(),
  parked: whole().says("Calls that wait for an answer of their caller."),
  sessions: whole().says("Sessions of clients before 2026-07-28."),
  streams: whole(),
  servers: list(record({ id: TEXT, state: TEXT }, { open: true })),
  calls: list(
    record(
      {
        server: TEXT.says("Empty for calls of no server."),
        method: TEXT,
        outcomes: COUNTS,
        seconds: number().says("Of all of them together."),
      },
      { open: true },
    ),
  ).says("Finished calls since the gateway started."),
});

export const getMetrics = defineOperation({
  id: "getMetrics",
  tag: "usage",
  summary: "What callers of a tenant do now, and did since this gateway started",
  access: "operator",
  http: { method: "GET", path: "/tenants/{tenant}/metrics", status: 200 },
  command: "tenants metrics {tenant}",
  output: METRICS,
  async handle({ store, gateway }, _actor, { tenant }) {
    await store.tenants.require(tenant);
    const activity = gateway.activityOf(tenant);
    if (!activity) return NOTHING;
    const { inFlight, queued, parked, sessions, streams, servers, calls } = activity;
    return { inFlight, queued, parked, sessions, streams, servers, calls };
  },
});

const NOTHING = { inFlight: 0, queued: 0, parked: 0, sessions: 0, streams: 0, servers: [], calls: [] };
