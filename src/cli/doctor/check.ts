import type { NexusError } from "../../errors/nexus-error.ts";
import { exampleOf, reachOf } from "../../errors/render.ts";
import { thingsToTry } from "../../errors/things-to-try.ts";

export type CheckVerdict = "ok" | "note" | "warning" | "failed" | "skipped";

/** The result of one check. Every failure has the error that a command would end with. */
export interface Finding {
  verdict: CheckVerdict;
  /** What was seen; the first line is used where there is room for one. */
  evidence: readonly string[];
  /** What to do. */
  advice?: readonly string[] | undefined;
  error?: NexusError | undefined;
}

/** The checks and their titles. */
export const TITLES = {
  configuration: "configuration",
  enabled: "enabled",
  trusted: "trusted",
  variables: "variables",
  command: "command",
  folder: "working folder",
  starts: "starts",
  stdout: "stdout clean",
  upstream: "upstream",
  secrets: "secrets",
  proxy: "proxy",
  dns: "DNS",
  tcp: "TCP",
  tls: "TLS",
  http: "HTTP",
  authentication: "authentication",
  protocol: "protocol",
  capabilities: "capabilities",
  lists: "lists",
  schemas: "schemas",
  providers: "model providers",
  annotations: "annotations",
  latency: "latency",
  stderr: "stderr at start",
  shutdown: "shutdown",
} as const;

export type CheckId = keyof typeof TITLES;

export interface Check extends Finding {
  id: CheckId;
  title: string;
}

const SEVERITY: readonly CheckVerdict[] = ["skipped", "ok", "note", "warning", "failed"];

/** The worst of them; "ok" if there are none. */
export function worst(verdicts: readonly CheckVerdict[]): CheckVerdict {
  return verdicts.reduce((a, b) => (SEVERITY.indexOf(b) > SEVERITY.indexOf(a) ? b : a), "ok");
}

export function ok(...evidence: string[]): Finding {
  return { verdict: "ok", evidence };
}

export function skipped(reason: string): Finding {
  return { verdict: "skipped", evidence: [reason] };
}

/** A failure with the cause, the server's output and the hint of its error; `seen` is what the check itself saw. */
export function toFailedFinding(error: NexusError, seen: readonly string[] = []): Finding {
  const { details } = error;
  const { command, url } = reachOf(details);
  const labelled = (label: string, text: string | undefined) => (text === undefined ? [] : [`${label}: ${text}`]);
  const evidence = [
    ...error.message.split(/\r?\n/),
    ...(details.excerpt?.split(/\r?\n/) ?? []),
    ...seen,
    ...labelled("command", command),
    ...labelled("url", url),
    ...labelled("proxy", details.proxy),
    ...labelled("code", details.rpc && String(details.rpc.code)),
    ...labelled("response", details.answer),
    ...labelled("requires", details.wwwAuthenticate),
    ...labelled("sent", details.sent?.join(", ")),
    ...labelled("received", details.received),
    ...labelled("likely cause", details.likelyCause),
    ...(details.stderr ?? []).slice(-10).map((line) => `stderr: ${line}`),
  ];
  const advice = [
    ...(details.hint === undefined ? [] : [details.hint]),
    ...labelled("example", exampleOf(details)),
    ...thingsToTry(error, process.platform).map((line) => `try: ${line}`),
  ];
  return { verdict: "failed", evidence, advice, error };
}

/** Collects a finding from several observations; the worst one decides. */
export class FindingDraft {
  readonly #verdicts: CheckVerdict[] = [];
  readonly #evidence: string[] = [];
  readonly #advice = new Set<string>();

  add(verdict: "ok" | "note" | "warning", evidence: string, advice?: string): this {
    this.#verdicts.push(verdict);
    this.#evidence.push(evidence);
    if (advice !== undefined) this.#advice.add(advice);
    return this;
  }

  finding(): Finding {
    const verdict = worst(this.#verdicts);
    return { verdict, evidence: this.#evidence, advice: this.#advice.size === 0 ? undefined : [...this.#advice] };
  }
}
