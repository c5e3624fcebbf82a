import * as z from "zod";
import { OUTCOMES } from "../../gateway/operation/audit.ts";
import { defineOperation } from "./api-context.ts";

export const METRIC_SCHEMAS = {
  Metrics: z.object({
    inFlight: z.int().describe("Calls that run now."),
    queued: z.int(),
    parked: z.int().describe("Calls that wait for an answer of their caller."),
    sessions: z.int().describe("Sessions of clients before 2026-07-28."),
    streams: z.int(),
    servers: z.array(z.object({ id: z.string(), state: z.string() })),
    calls: z
      .array(
        z.object({
          server: z.string().describe("Empty for calls of no server."),
          method: z.string(),
          outcomes: z.object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, z.int()]))),
          seconds: z.number().describe("Of all of them together."),
        }),
      )
      .describe("Finished calls since the gateway started."),
  }),
};

const getMetrics = defineOperation({
  id: "getMetrics",
  method: "GET",
  path: "/tenants/{tenant}/metrics",
  tag: "usage",
  summary: "What callers of a tenant do now, and did since this gateway started",
  access: "operator",
  answer: { status: 200, schema: METRIC_SCHEMAS.Metrics },
  async handle({ api, params: { tenant = "" } }) {
    await api.store.tenants.require(tenant);
    const activity = api.gateway.activityOf(tenant);
    if (!activity) return NOTHING;
    const { inFlight, queued, parked, sessions, streams, servers, calls } = activity;
    return { inFlight, queued, parked, sessions, streams, servers, calls };
  },
});

export const METRIC_OPERATIONS = [getMetrics];

const NOTHING = { inFlight: 0, queued: 0, parked: 0, sessions: 0, streams: 0, servers: [], calls: [] };
