import type { CompiledApi } from "../compile/compile.ts";
import { type SettingValues, exampleSettings } from "../run/setting-values.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { clockFunctions } from "../expression/clock.ts";
import { fieldsInName, secretNames } from "../file/model/secret-names.ts";
import type { ToolFile, RuleSpec, TypeSpec } from "../file/model/tool-file.ts";
import { CompletedValues } from "../run/completed-values.ts";
import { NO_CREDENTIALS } from "../run/secrets/credentials.ts";
import { ToolPlans } from "../run/steps/steps-plan.ts";
import type { ToolPlan } from "../run/tool-plan.ts";
import { findType, shapesOf, typesIn } from "../shape/shape-parts.ts";

/** A version that callers may have seen. */
export interface SeenVersion {
  api: CompiledApi;
  /** A version that is retired makes no more calls, but still tells what its callers mean. */
  isPublished: boolean;
}

interface VersionsOfCall {
  /** The version that is served now. */
  current: CompiledApi;
  /** All that were published, the oldest first, with the current one. */
  versions: readonly SeenVersion[];
  /** The version whose tools the caller was shown last; undefined if that is not known. */
  seen?: CompiledApi | undefined;
}

/** The version that makes the call, or why none does. */
type Translation = { kind: "run"; by: CompiledApi } | { kind: "refused"; message: string };

interface NamedCall {
  tool: string;
  arguments: unknown;
}

/**
 * Decides which version makes a call that may have been written for an earlier one, so that it sends what its caller
 * means or nothing at all. Clients keep lists of tools, some until a person refreshes them.
 */
export class CallTranslation {
  readonly #settings: SettingValues;
  readonly #meanings = new WeakMap<CompiledApi, CallMeanings>();

  constructor(settings: SettingValues = {}) {
    this.#settings = settings;
  }

  /** `at`: the time of the call. */
  of(call: NamedCall, { current, versions, seen }: VersionsOfCall, at: number): Translation {
    if (seen === current) return { kind: "run", by: current };
    return seen ? this.#known(call, { current, versions, seen }, at) : this.#unknown(call, { current, versions }, at);
  }

  /** It means what it means in the version that the caller saw. */
  #known(
    call: NamedCall,
    { current, versions, seen }: VersionsOfCall & { seen: CompiledApi },
    at: number,
  ): Translation {
    const isPublished = versions.some(({ api, isPublished: is }) => is && api === seen);
    const meant = this.#meaning(seen, call, at);
    // The version that it was written for says what is wrong with it.
    if (meant === undefined) return isPublished ? { kind: "run", by: seen } : refused(current, call);
    const isSame = this.#meaning(current, call, at) === meant;
    if (isSame && (!isPublished || givesSameResults(seen, current, call.tool))) return { kind: "run", by: current };
    return isPublished ? { kind: "run", by: seen } : refused(current, call);
  }

  /** All versions that accept it must mean the same by it. */
  #unknown(call: NamedCall, { current, versions }: VersionsOfCall, at: number): Translation {
    const accepting = versions.flatMap(({ api, isPublished }) => {
      const meaning = this.#meaning(api, call, at);
      return meaning === undefined ? [] : [{ api, isPublished, meaning }];
    });
    // Nobody accepts it: the current version says why.
    if (accepting.length === 0) return { kind: "run", by: current };
    const isOne = new Set(accepting.map(({ meaning }) => meaning)).size === 1;
    const published = accepting.filter(({ isPublished }) => isPublished).map(({ api }) => api);
    const by = published.includes(current) ? current : published.at(-1);
    return isOne && by ? { kind: "run", by } : refused(current, call);
  }

  #meaning(api: CompiledApi, { tool, arguments: args }: NamedCall, at: number): string | undefined {
    let meanings = this.#meanings.get(api);
    if (!meanings) this.#meanings.set(api, (meanings = new CallMeanings(api, this.#settings)));
    return meanings.of(tool, args, at);
  }
}

function refused(current: CompiledApi, { tool }: NamedCall): Translation {
  return { kind: "refused", message: refreshMessage(current, tool) };
}

/** For a client that has to read the list of tools again. */
export function refreshMessage({ file }: CompiledApi, tool: string): string {
  return (
    `Nothing was sent: the tools of ${file.title} have changed since your client read them, and this call of ${tool} ` +
    "would not mean the same now. Refresh the list of tools (tools/list; in ChatGPT: refresh the connector), then call again."
  );
}

type Value = Record<string, unknown>;

/** Tells what calls mean in one version of an API: what they send upstream, without credentials. */
class CallMeanings {
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
function givesSameResults(a: CompiledApi, b: CompiledApi, tool: string): boolean {
  const [one, other] = [a, b].map(({ file }) => {
    const { response } = file.tools[tool] ?? {};
    const { text: _text, ...rest } = response ?? { text: "" };
    return canonicalJson({ rest, types: typesEssence(file, response?.type === undefined ? [] : [response.type]) });
  });
  return one === other;
}

/**
 * Everything about a tool that decides what its calls send upstream, with the tools and types that it uses; without
 * texts for people. Plain JSON.
 */
function requestEssence(file: ToolFile, tool: string): unknown {
  const called = usedTools(file, tool).flatMap((name) => {
    const spec = file.tools[name];
    return spec ? [[name, spec] as const] : [];
  });
  return {
    upstream: file.upstream.base,
    namespaces: file.namespaces,
    secrets: file.secrets,
    tools: called.map(([name, { input, unknown, request, steps, paging, confirm, response }]) => {
      const { text: _text, ...read } = response;
      return { name, input, unknown, request, steps, paging, confirm, read };
    }),
    types: typesEssence(
      file,
      called.flatMap(([, { input, response }]) => [input, ...(response.type === undefined ? [] : [response.type])]),
    ),
  };
}

/** The tool itself, and those that it calls in steps or to confirm. */
function usedTools({ tools }: ToolFile, tool: string): string[] {
  const used = new Set([tool]);
  // The set grows while it is read.
  for (const name of used) {
    const spec = Object.hasOwn(tools, name) ? tools[name] : undefined;
    for (const { call } of Object.values(spec?.steps ?? {})) used.add(call);
    if (spec?.confirm) used.add(spec.confirm.call);
  }
  return [...used];
}

/** The types that are reached from these, by name, without texts for people. */
function typesEssence(file: ToolFile, roots: readonly string[]): Record<string, unknown> {
  const reached = new Set(roots);
  const found: Record<string, unknown> = {};
  for (const name of reached) {
    const type = findType(file, name);
    if (!type) continue;
    found[name] = withoutTexts(type);
    for (const inner of shapesOf(type).flatMap(typesIn)) reached.add(inner);
  }
  return found;
}

function withoutTexts({ description: _description, fields, rules, ...type }: TypeSpec): unknown {
  const named = Object.entries(fields).map(([name, { description: _text, evidence: _evidence, ...field }]) => ({
    name,
    ...field,
  }));
  return { ...type, fields: named, rules: rules.map(({ that }: RuleSpec) => that) };
}
