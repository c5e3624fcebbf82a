import { checkerFor, type Checked } from "../check/checker.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { parseTemplate, renderTemplate, type Template } from "../expression/template.ts";
import type { Scope } from "../expression/expression.ts";
import type { SecretsSpec, RequestToolSpec } from "../file/model/tool-file.ts";
import { responseReader, type ResponseReader } from "./response-reader.ts";
import type { CompletedValues } from "./completed-values.ts";
import { Confirmation } from "./confirmation.ts";
import { Failure } from "./failure.ts";
import { requestWriter, type RequestWriter } from "./request-writer.ts";
import { secretPlaces, type SecretPlace } from "./secrets/credentials.ts";

/** The time limit of a write, with margins before it is sent and after its answer. */
const WRITE_MARGIN_MS = 60_000;

/** Other callers were told that the outcome is unknown: a person may be acting on that. */
export const TOO_LATE = new Failure(
  "This process was paused for too long before it sent the write, so it was not sent.",
  {
    hint: "Call again.",
    outcome: "refused",
  },
);

const OUTCOME_UNKNOWN = "Whether it was carried out is not known. Find out before calling again.";

/** What the plans of one API share. */
export interface PlanParts {
  values: CompletedValues;
  now: () => number;
}

/** What all calls of one tool with a request share; prepared once. */
export class ToolPlan {
  readonly kind = "request";
  readonly name: string;
  readonly spec: RequestToolSpec;
  readonly secrets: SecretsSpec | undefined;
  readonly secretPlaces: readonly SecretPlace[];
  readonly check: (args: unknown) => Checked;
  readonly write: RequestWriter;
  readonly read: ResponseReader;
  readonly confirmation: Confirmation | undefined;
  /** Whether a repeated call can be recognised: only requests with a key of their own are sent once. */
  readonly isKeyed: boolean;
  readonly #outcomeUnknown: Template;

  constructor(api: CompiledApi, name: string, spec: RequestToolSpec, { values, now }: PlanParts) {
    this.name = name;
    this.spec = spec;
    this.secrets = spec.request.secrets === undefined ? undefined : api.file.secrets[spec.request.secrets];
    this.secretPlaces = this.secrets ? secretPlaces(this.secrets) : [];
    this.check = checkerFor(api.file, name, now);
    this.write = requestWriter(api.file, name, spec);
    this.read = responseReader(api.file, spec, values);
    this.confirmation = spec.confirm && new Confirmation(spec.confirm);
    this.isKeyed = spec.effect !== "read" && values.calls(spec.input, "request_key");
    this.#outcomeUnknown = parseTemplate(spec.outcomeUnknown ?? OUTCOME_UNKNOWN);
  }

  /** Until when a write that begins now may be sent, and has its outcome. */
  writeUntil(now: number): number {
    return now + this.spec.limits.timeoutMs + WRITE_MARGIN_MS;
  }

  /** How to find out the outcome of a write. */
  outcomeUnknown(scope: Scope): string {
    return renderTemplate(this.#outcomeUnknown, scope);
  }
}
