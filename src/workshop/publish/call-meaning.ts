import { canonicalJson } from "../../json/canonical-json.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { clockFunctions } from "../expression/clock.ts";
import { fieldsInName, secretNames } from "../file/model/secret-names.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { CompletedValues } from "../run/completed-values.ts";
import { NO_CREDENTIALS } from "../run/secrets/credentials.ts";
import { exampleSettings, type SettingValues } from "../run/setting-values.ts";
import { ToolPlans } from "../run/steps/steps-plan.ts";
import type { ToolPlan } from "../run/tool-plan.ts";
import { requestEssence, typesEssence } from "./tool-essence.ts";

type Value = Record<string, unknown>;

/** Tells what calls mean in one version of an API: what they send upstream, without credentials. */
export class CallMeanings {
  readonly #file: ToolFile;
  readonly #settings: SettingValues;
  readonly #inputs: CompletedValues;
  readonly #plans: ToolPlans;
  /** The moment of the call: computed values may depend on it. */
  #at = 0;

  constructor(api: CompiledApi, settings: SettingValues = {}) {
    this.#file = api.file;
    this.#settings = { ...exampleSettings(api.file), ...settings };
    this.#inputs = new CompletedValues(api.file, "input");
    this.#plans = new ToolPlans(api, { values: new CompletedValues(api.file, "output"), now: () => this.#at });
  }

  /** Equal texts for calls that send the same; undefined if this version does not accept the arguments. */
  of(tool: string, args: unknown, at: number): string | undefined {
    this.#at = at;
    const plan = this.#plans.find(tool);
    if (!plan) return undefined;
    const { value, problems } = plan.check(args);
    if (problems.length > 0) return undefined;
    return plan.kind === "request" ? this.#request(plan, value) : this.#steps(tool, value);
  }

  #request(plan: ToolPlan, given: Value): string | undefined {
    const { spec, secrets } = plan;
    const { now, today } = clockFunctions(() => this.#at);
    // The key of a write is made of its arguments.
    const key = () => canonicalJson(given);
    const scope = { now, today, request_key: key, settings: this.#settings };
    try {
      const input = this.#inputs.complete(spec.input, given, scope);
      const base = spec.request.base ?? this.#file.upstream.base;
      const written = plan.write(input, { base, credentials: NO_CREDENTIALS, scope: { ...scope, input } });
      const { method, url, headers, body } = written;
      const bytes = body === undefined ? "" : Buffer.from(body).toString("latin1");
      const { paging, confirm } = spec;
      const sent = canonicalJson({ method, url, headers, bytes, paging, confirm, secrets: withNames(secrets, input) });
      const [, boundary] = /;\s*boundary=([\w-]+)/.exec(headers["content-type"] ?? "") ?? [];
      // It is another one in each request.
      return boundary === undefined ? sent : sent.replaceAll(boundary, "boundary");
    } catch {
      // A value that cannot be written where it belongs: nothing would be sent.
      return undefined;
    }
  }

  /** What steps send depends on answers, so all that is about it must be the same. */
  #steps(tool: string, given: Value): string {
    return canonicalJson({ steps: requestEssence(this.#file, tool), given, settings: this.#settings });
  }
}

/** With the values of the arguments that are in the names of secrets. */
function withNames(secrets: ToolPlan["secrets"], input: Value): unknown {
  if (!secrets) return undefined;
  const fields = secretNames(secrets).flatMap(fieldsInName);
  return { secrets, given: fields.map((field) => input[field]) };
}

/** Whether results of a tool have the same form in both versions. */
export function givesSameResults(a: CompiledApi, b: CompiledApi, tool: string): boolean {
  const [one, other] = [a, b].map(({ file }) => {
    const { response } = file.tools[tool] ?? {};
    const { text: _text, ...rest } = response ?? { text: "" };
    return canonicalJson({ rest, types: typesEssence(file, response?.type === undefined ? [] : [response.type]) });
  });
  return one === other;
}
