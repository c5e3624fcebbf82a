import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import type { Readable, Writable } from "node:stream";
import { SHARED_OPTIONS, Assembly, type GatewayOptions } from "./assembly.ts";
import { within } from "../async/within.ts";
import { EVERYTHING, type View } from "./names/view.ts";
import { Gateway, type ServeOptions } from "./gateway.ts";

export type { GatewayHost, GatewayOptions, GatewaySettings } from "./assembly.ts";
export type { Allowance, RunningCall } from "./operation/allowance.ts";
export type { Admission } from "../server/core/core.ts";
export type { Audit, AuditBacklog, AuditContent, AuditRecord, AuditTrail, Outcome } from "./operation/audit.ts";
export type { GatewayResources } from "./operation/gateway-resources.ts";
export type { OperationsHandler } from "./edge/operations-handler.ts";
export type { Door } from "./access/door.ts";
export type { Decide, Operation } from "./access/principal-access.ts";
export { DEFAULT_PORT, Gateway, type ServeOptions } from "./gateway.ts";
export type { SetDefinition, SetItem } from "./sets/set-definition.ts";
export { MemorySets, type SetSource } from "./sets/set-source.ts";
export type { OpenTenant } from "./tenants/tenant-host.ts";
export { DEFAULT_LIMITS, type Limits } from "./operation/limits.ts";
export type { ServerLimits } from "../server/core/limits.ts";
export type { Authenticate, Principal } from "../server/core/principal.ts";
export type { AccessTarget } from "../host/directory/access-target.ts";
export type { Decision } from "../host/directory/policy.ts";

/** Serves a host over HTTP to clients of every revision. Resolves when the gateway listens. */
export function serve(options: ServeOptions): Promise<Gateway> {
  return Gateway.open(options);
}

export type StdioServeOptions = GatewayOptions & {
  input: Readable;
  output: Writable;
  /** Ends it at once. */
  signal: AbortSignal;
  /**
   * Rejects new calls from then on, and ends it when running calls have ended, or after `limits.drainMs`. What belongs to
   * them is accepted meanwhile.
   */
  drain?: AbortSignal | undefined;
  /** Serve only this server, with its original names. */
  server?: string | undefined;
  /** `search`: lists three tools, with which the client finds, describes and calls all others. Default: lists all. */
  view?: "search" | undefined;
};

const STDIO_OPTIONS: OptionNames<StdioServeOptions> = {
  ...SHARED_OPTIONS,
  input: true,
  output: true,
  signal: true,
  drain: true,
  server: true,
  view: true,
};

/** Serves a host to one client over stdio, until the client disconnects or a signal is aborted. */
export async function serveStdio(options: StdioServeOptions): Promise<void> {
  checkOptions("serveStdio", options, STDIO_OPTIONS);
  const { input, output, signal, drain, server } = options;
  const shown: View = server === undefined ? EVERYTHING : { kind: "one", server };
  const view: View = options.view === "search" ? { ...shown, search: true } : shown;
  const { serveStdio: serveOnPipes } = await import("../server/stdio/serve-stdio.ts");
  const assembly = await Assembly.open(options);
  const { tenants, limits, budget, logger } = assembly;
  const { drainMs } = limits;
  const [quiet, late] = [new AbortController(), new AbortController()];
  const beginDrain = async () => {
    // A client that has nothing more to say, and then wants an end, does not wait for answers.
    if (input.readableEnded) return late.abort();
    const isQuiet = await within(
      assembly.quiet().then(() => true),
      drainMs,
    );
    (isQuiet ? quiet : late).abort();
  };
  const onDrain = () => void beginDrain();
  if (drain?.aborted) onDrain();
  else drain?.addEventListener("abort", onDrain, { once: true });
  const signals = { signal: AbortSignal.any([signal, late.signal]), drain: quiet.signal };
  try {
    const core = tenants.first.endpoints.of(view);
    await serveOnPipes({ core }, { input, output, ...signals, limits, drainMs, budget, logger });
  } finally {
    drain?.removeEventListener("abort", onDrain);
    await assembly.close();
  }
}
