import { createHmac } from "node:crypto";
import type { AuditDetail, AuditSettings } from "../config/audit-setting.ts";
import type { AuditContent, AuditRecord } from "../gateway/operation/audit.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isRecord } from "../json/is-record.ts";
import type { Correlation } from "../server/core/correlation.ts";
import { ANYBODY } from "../server/core/principal.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import { isSecretName, MASK, maskProse } from "../text/mask-secrets.ts";
import { visibleJson } from "../text/visible.ts";

/** Callers choose how long the names are that they use. */
const MAX_TARGET = 1_000;
const MAX_METHOD = 200;
/** Of arguments or a result in a record. */
const MAX_CONTENT = 16_384;
const MAX_DEPTH = 64;
const PLAIN = /^[\x20-\x7e]*$/;

/** Writes records as they are kept. */
export class AuditText {
  readonly #key: Buffer;
  readonly #settings: Pick<AuditSettings, "arguments" | "results">;

  /** `key`: for hashes of arguments and results, so that short ones cannot be guessed. */
  constructor(key: Buffer, settings: Pick<AuditSettings, "arguments" | "results">) {
    this.#key = key;
    this.#settings = settings;
  }

  entryOf(record: AuditRecord, { params, result }: AuditContent): AuditEntry {
    const { principal, server, outcome } = record;
    const { arguments: ofArguments, results: ofResults } = this.#settings;
    const at = Math.trunc(record.at);
    const keyId = principal.id === ANYBODY.id ? null : principal.id;
    const target = record.target === undefined ? null : record.target.slice(0, MAX_TARGET);
    const written: Record<string, unknown> = {
      at: new Date(at).toISOString(),
      correlationId: record.correlationId,
      traceId: record.traceId,
      tenant: principal.tenant,
      keyId,
      client: record.client ?? null,
      revision: record.revision === "" ? null : record.revision,
      server,
      method: record.method.slice(0, MAX_METHOD),
      target,
      definitionHash: record.definitionHash ?? null,
      decision: record.decision,
      outcome,
      errorCode: record.errorCode ?? null,
      durationMs: Math.round(record.durationMs * 1000) / 1000,
      requestBytes: record.requestBytes ?? null,
      responseBytes: record.responseBytes ?? null,
    };
    if (record.set !== undefined) written["set"] = record.set;
    if (ofArguments !== "none") written["arguments"] = this.#shown(argumentsIn(params), ofArguments);
    if (ofResults !== "none") written["result"] = result === undefined ? null : this.#shown(result, ofResults);
    return { at, text: textOf(written) };
  }

  #shown(value: unknown, detail: Exclude<AuditDetail, "none">): unknown {
    if (detail === "hashed") {
      return `hmac-sha256:${createHmac("sha256", this.#key).update(canonicalJson(value)).digest("hex")}`;
    }
    const shown = detail === "full" ? value : withoutSecrets(value, MAX_DEPTH);
    const { length } = JSON.stringify(shown);
    return length > MAX_CONTENT ? { truncated: true, length } : shown;
  }
}

/** What the gateway itself has to record: no call of MCP. */
export interface Incident {
  tenant: string;
  keyId: string | null;
  at: number;
  method: string;
  target?: string | undefined;
  /** Default: denied. */
  decision?: "allowed" | "denied";
  outcome: string;
  errorCode: string | null;
  durationMs?: number;
  correlation?: Pick<Correlation, "correlationId" | "traceId"> | undefined;
  /** How often; undefined where it is about one. */
  count?: number;
}

export function incidentEntry(incident: Incident): AuditEntry {
  const {
    tenant,
    keyId,
    method,
    decision = "denied",
    outcome,
    errorCode,
    durationMs = 0,
    correlation,
    count,
  } = incident;
  const target = incident.target === undefined ? null : incident.target.slice(0, MAX_TARGET);
  const at = Math.trunc(incident.at);
  const written = {
    at: new Date(at).toISOString(),
    correlationId: correlation?.correlationId ?? null,
    traceId: correlation?.traceId ?? null,
    tenant,
    keyId,
    client: null,
    revision: null,
    server: "",
    method,
    target,
    definitionHash: null,
    decision,
    outcome,
    errorCode,
    durationMs: Math.round(durationMs * 1000) / 1000,
    requestBytes: null,
    responseBytes: null,
    ...(count === undefined ? {} : { count }),
  };
  return { at, text: textOf(written) };
}

/** Invisible characters are escaped, so that an export can be printed as it is. */
function textOf(written: object): string {
  const text = JSON.stringify(written);
  return PLAIN.test(text) ? text : visibleJson(text);
}

function argumentsIn(params: AuditContent["params"]): unknown {
  return "arguments" in params ? params["arguments"] : params;
}

/** With what looks like a secret masked, by its name or by its form. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === "string") return maskProse(value);
  if (depth === 0) return MASK;
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, depth - 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isSecretName(name) ? MASK : withoutSecrets(each, depth - 1)]),
  );
}
