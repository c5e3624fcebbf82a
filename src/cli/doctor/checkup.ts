import type { NexusError } from "../../errors/nexus-error.ts";
import {
  toFailedFinding,
  skipped,
  TITLES,
  worst,
  type Check,
  type CheckId,
  type Finding,
  type CheckVerdict,
} from "./check.ts";

const BEFORE = ["configuration", "enabled", "trusted", "variables"] as const satisfies CheckId[];
const AFTER = [
  "protocol",
  "capabilities",
  "lists",
  "schemas",
  "providers",
  "annotations",
  "latency",
] as const satisfies CheckId[];
/** The order of the checks, by how a server is reached; "unknown" if its entry does not say. */
const ORDER: Record<"stdio" | "http" | "api" | "unknown", readonly CheckId[]> = {
  stdio: [...BEFORE, "command", "folder", "starts", "stdout", ...AFTER, "stderr", "shutdown"],
  http: [...BEFORE, "proxy", "dns", "tcp", "tls", "http", "authentication", ...AFTER],
  api: [...BEFORE, "upstream", "secrets", ...AFTER],
  unknown: [...BEFORE, ...AFTER],
};

/** The result of checking one server. */
export interface Examined {
  server: string;
  verdict: CheckVerdict;
  checks: Check[];
  failures: NexusError[];
}

/** Collects the findings about one server in any order. */
export class Checkup {
  readonly #findings = new Map<CheckId, Finding>();
  #order: readonly CheckId[] = ORDER.unknown;

  set kind(kind: keyof typeof ORDER) {
    this.#order = ORDER[kind];
  }

  set(id: CheckId, finding: Finding): void {
    this.#findings.set(id, finding);
  }

  find(id: CheckId): Finding | undefined {
    return this.#findings.get(id);
  }

  /** Whether one check comes before another. */
  isBefore(id: CheckId, other: CheckId): boolean {
    return this.#order.indexOf(id) < this.#order.indexOf(other);
  }

  /** Adds an unexpected error to the first check that is still open. */
  fail(error: NexusError): void {
    const open = this.#order.find((id) => !this.#findings.has(id));
    this.set(open ?? "protocol", toFailedFinding(error));
  }

  /** All findings in order; checks that did not run are skipped, for this reason or because of the first failure. */
  result(server: string, reason?: string): Examined {
    const failedAt = this.#order.find((id) => this.find(id)?.verdict === "failed");
    const why = reason ?? (failedAt === undefined ? "not reached" : `because "${TITLES[failedAt]}" failed`);
    const checks = this.#order.map((id) => ({ id, title: TITLES[id], ...(this.find(id) ?? skipped(why)) }));
    return {
      server,
      verdict: worst(checks.map(({ verdict }) => verdict)),
      checks,
      failures: checks.flatMap(({ error }) => error ?? []),
    };
  }
}
