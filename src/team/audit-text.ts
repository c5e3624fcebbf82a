import { createHmac } from "node:crypto";
import type { AuditDetail, AuditSettings } from "../config/gateway-settings.ts";
import type { AuditContent, AuditRecord } from "../gateway/operation/audit.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isRecord } from "../json/is-record.ts";
import type { Correlation } from "../server/core/request-meta.ts";
import { ANYBODY } from "../server/core/principal.ts";
import type { AuditEntry } from "../store/audit/audit-chain.ts";
import { maskProse } from "../masking/find-secrets.ts";
import { MASK } from "../masking/mask-words.ts";
import { isSecretName } from "../masking/secret-names.ts";
import { visibleJson } from "../text/visible.ts";

/** Callers choose how long the names are that they use. */
const MAX_TARGET = 1_000;
const MAX_METHOD = 200;
/** Of arguments or a result in a record. */
const MAX_CONTENT = 16_384;
const MAX_DEPTH = 64;
const PLAIN = /^[\x20-\x7e]*$/;
/** The same in JSON. */
const SIMPLE_ID = /^[A-Za-z0-9._~:+/=@-]*$/;

/** Writes records as they are kept. */
export class AuditText {
  readonly #key: Buffer;
  readonly #settings: Pick<AuditSettings, "arguments" | "results">;
  readonly #facts = new KnownFacts();
  #second = NaN;
  /** The time of that second, up to its fraction. */
  #secondText = "";

  /** `key`: for hashes of arguments and results, so that short ones cannot be guessed. */
  constructor(key: Buffer, settings: Pick<AuditSettings, "arguments" | "results">) {
    this.#key = key;
    this.#settings = settings;
  }

  /**
   * JSON.stringify would need three times as long for each call. Parts are joined, because a text that is added up from parts
   * stays a tree of them until it is read.
   */
  entryOf(record: AuditRecord, content: AuditContent): AuditEntry {
    const at = Math.trunc(record.at);
    const parts = [
      `{"at":"`,
      this.#timeText(at),
      `","correlationId":`,
      idText(record.correlationId),
      `,"traceId":`,
      idText(record.traceId),
      `,`,
      this.#facts.textOf(record),
      `,"durationMs":`,
      numberText(Math.round(record.durationMs * 1000) / 1000),
      `,"requestBytes":`,
      numberText(record.requestBytes),
      `,"responseBytes":`,
      numberText(record.responseBytes),
      this.#more(record, content),
      "}",
    ];
    return { at, text: parts.join("") };
  }

  #timeText(at: number): string {
    const second = Math.floor(at / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1000).toISOString().slice(0, -"000Z".length);
    }
    const ms = at - second * 1000;
    return `${this.#secondText}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
  }

  /** What most records do not have. */
  #more(record: AuditRecord, { params, result }: AuditContent): string {
    const { set, through, via } = record;
    const { arguments: ofArguments, results: ofResults } = this.#settings;
    const isPlain = set === undefined && through === undefined && via === undefined;
    if (isPlain && ofArguments === "none" && ofResults === "none") return "";
    const more: Record<string, unknown> = {};
    if (set !== undefined) more["set"] = set;
    if (through !== undefined) more["through"] = through;
    if (via !== undefined) more["via"] = via;
    if (ofArguments !== "none") more["arguments"] = this.#shown(argumentsIn(params), ofArguments, record);
    if (ofResults !== "none") more["result"] = result === undefined ? null : this.#shown(result, ofResults, record);
    return `,${membersOf(more)}`;
  }

  #shown(value: unknown, detail: Exclude<AuditDetail, "none">, { correlationId, traceId }: AuditRecord): unknown {
    if (detail === "hashed") {
      return `hmac-sha256:${createHmac("sha256", this.#key).update(canonicalJson(value)).digest("hex")}`;
    }
    // The record has its own beside this; masked, neither it nor the records that a result names could be found by them.
    const own = [correlationId, traceId];
    const isKnown = (word: string, before: string) =>
      own.includes(word) || word.startsWith(`00-${traceId}-`) || isIdIn(before, word);
    const shown = detail === "full" ? value : withoutSecrets(value, MAX_DEPTH, isKnown);
    const { length } = JSON.stringify(shown);
    return length > MAX_CONTENT ? { truncated: true, length } : shown;
  }
}

/** What is the same in many records, as text. */
interface RecordFacts extends Pick<
  AuditRecord,
  "revision" | "server" | "method" | "definitionHash" | "decision" | "outcome" | "errorCode"
> {
  tenant: string;
  client: string | undefined;
  version: string | undefined;
  text: string;
}

/** Callers choose names, so it must not grow with them. */
const MAX_FACTS = 1_000;

/** The facts of the last record for each principal and target: the next one mostly has the same. */
class KnownFacts {
  /** By the id of the principal, then by target. */
  readonly #known = new Map<string, Map<string | undefined, RecordFacts>>();
  #count = 0;

  /** Members of the record from `tenant` to `errorCode`. */
  textOf(record: AuditRecord): string {
    const ofPrincipal = this.#known.get(record.principal.id);
    const known = ofPrincipal?.get(record.target);
    return known && isSame(known, record) ? known.text : this.#add(record);
  }

  #add(record: AuditRecord): string {
    const { principal, client, revision, server, method, target, definitionHash, decision, outcome, errorCode } =
      record;
    const { id, tenant } = principal;
    const text = membersOf({
      tenant,
      keyId: id === ANYBODY.id ? null : id,
      client: client ?? null,
      revision: revision === "" ? null : revision,
      server,
      method: method.slice(0, MAX_METHOD),
      target: target === undefined ? null : target.slice(0, MAX_TARGET),
      definitionHash: definitionHash ?? null,
      decision,
      outcome,
      errorCode: errorCode ?? null,
    });
    if (this.#count >= MAX_FACTS) {
      this.#known.clear();
      this.#count = 0;
    }
    const facts = { revision, server, method, definitionHash, decision, outcome, errorCode };
    const ofPrincipal = this.#known.get(id) ?? new Map<string | undefined, RecordFacts>();
    if (!ofPrincipal.has(target)) this.#count++;
    ofPrincipal.set(target, { ...facts, tenant, client: client?.name, version: client?.version, text });
    this.#known.set(id, ofPrincipal);
    return text;
  }
}

function isSame(known: RecordFacts, record: AuditRecord): boolean {
  const { client } = record;
  return (
    known.outcome === record.outcome &&
    known.errorCode === record.errorCode &&
    known.decision === record.decision &&
    known.method === record.method &&
    known.server === record.server &&
    known.revision === record.revision &&
    known.definitionHash === record.definitionHash &&
    known.tenant === record.principal.tenant &&
    known.client === client?.name &&
    known.version === client?.version
  );
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
  /** Who ran a command on the machine itself. */
  account?: string | undefined;
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
    account,
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
    ...(account === undefined ? {} : { account }),
  };
  return { at, text: textOf(written) };
}

/** Invisible characters are escaped, so that an export can be printed as it is. */
function textOf(written: object): string {
  const text = JSON.stringify(written);
  return PLAIN.test(text) ? text : visibleJson(text);
}

/** The members of an object, without what encloses them. */
function membersOf(written: object): string {
  return textOf(written).slice(1, -1);
}

function idText(id: string): string {
  return SIMPLE_ID.test(id) ? `"${id}"` : textOf([id]).slice(1, -1);
}

function numberText(value: number | undefined): string {
  return value !== undefined && Number.isFinite(value) ? String(value) : "null";
}

function argumentsIn(params: AuditContent["params"]): unknown {
  return "arguments" in params ? params["arguments"] : params;
}

/** Ids and hashes of records, as `nexus://calls` has them: in members, and in JSON that is text. */
const HEX_ID = /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/;
const BEFORE_ID = /"(?:dev\.nexus\/)?(?:correlationId|traceId|definitionHash)"\s{0,4}:\s{0,4}"$/;
const isIdIn = (before: string, value: unknown) =>
  typeof value === "string" && HEX_ID.test(value) && BEFORE_ID.test(before);

/** With what looks like a secret masked, by its name or by its form. */
function withoutSecrets(value: unknown, depth: number, isKnown: (word: string, before: string) => boolean): unknown {
  if (typeof value === "string") return maskProse(value, isKnown);
  if (depth === 0) return MASK;
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, depth - 1, isKnown));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isIdIn(`"${name}":"`, each) ? each : isSecretName(name) ? MASK : withoutSecrets(each, depth - 1, isKnown),
    ]),
  );
}
