import type { CancelSignal } from "../../async/cancellation.ts";
import type { ServerInstance } from "../../auth/server-instance.ts";
import type { Logger } from "../../text/logger.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { ClockFunctions } from "../expression/clock.ts";
import type { Pause } from "./attempts.ts";
import type { CompletedValues } from "./completed-values.ts";
import type { SaveSecret } from "./secrets/api-secrets.ts";
import type { FindSecret } from "./secrets/secret-lookup.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";
import type { UpstreamTokens } from "./secrets/upstream-tokens.ts";
import type { ResultStore } from "./result-store.ts";
import type { SettingValues } from "./setting-values.ts";
import type { ToolPlans } from "./steps/steps-plan.ts";
import type { TellingParts } from "./told-answer.ts";
import type { OutgoingRequest, Upstream } from "./upstream.ts";
import type { WriteOnce } from "./writes/write-once.ts";

/** Adds to a finished request what only the program can compute: a signature. */
export type Signer = (request: OutgoingRequest) => OutgoingRequest | Promise<OutgoingRequest>;

/** What all calls of one API share. */
export interface RunnerParts {
  api: CompiledApi;
  /** The owner of secrets, writes and results. */
  instance: ServerInstance;
  plans: ToolPlans;
  /** For answers. */
  values: CompletedValues;
  inputs: CompletedValues;
  telling: TellingParts;
  upstream: Upstream;
  hidden: HiddenValues;
  writes: WriteOnce;
  results: ResultStore;
  findSecret: FindSecret;
  /** Stores the new value of a secret that changes by its use. */
  saveSecret: SaveSecret | undefined;
  tokens: UpstreamTokens;
  settings: SettingValues;
  signers: Readonly<Record<string, Signer>>;
  logger: Logger;
  onDeviations: ((tool: string, deviations: readonly Readonly<Record<string, string>>[]) => void) | undefined;
  now: () => number;
  /** The same for expressions. */
  clock: ClockFunctions;
  pause: Pause;
  /** Aborted when the API is closed. */
  closing: CancelSignal;
}
