import { nearestName } from "../../../text/nearest-name.ts";
import type { StepSpec, Effect, RequestToolSpec, StepsToolSpec, ToolFile } from "../model/tool-file.ts";
import type { Path, Problems } from "../../../format/problem.ts";
import { findRequestTool, requestTools } from "../model/request-tools.ts";
import { oneOf } from "../../../format/part.ts";
import { checkExpression, checkKind, checkTemplate } from "./check-expressions.ts";
import { checkValue } from "./check-given.ts";
import { knownResult } from "./judge-expression.ts";
import { ANYTHING, joined, knownSettings, knownType, SINGLE, withMembers, type KnownValue } from "./known-value.ts";

const RANKS: readonly Effect[] = ["read", "write", "destructive"];

/** Tools with steps: what they call, with what, and how their results are made. */
export function checkSteps(file: ToolFile, problems: Problems): void {
  const called = new Set<string>();
  for (const [name, tool] of Object.entries(file.tools)) {
    if (tool.confirm) called.add(tool.confirm.call);
    if (!tool.steps) continue;
    new StepsCheck(file, tool, problems).check(["tools", name]);
    for (const { call } of Object.values(tool.steps)) called.add(call);
  }
  for (const [name, { offer }] of Object.entries(file.tools)) {
    if (offer !== "none" || called.has(name)) continue;
    problems.warning(["tools", name, "offer"], "no step calls this tool, so it is never used");
  }
}

class StepsCheck {
  readonly #file: ToolFile;
  readonly #tool: StepsToolSpec;
  readonly #problems: Problems;
  /** What expressions see: grows with the steps. */
  #scope: KnownValue;

  constructor(file: ToolFile, tool: StepsToolSpec, problems: Problems) {
    this.#file = file;
    this.#tool = tool;
    this.#problems = problems;
    this.#scope = joined(withMembers({ input: knownType(file, tool.input) }), knownSettings(file));
  }

  check(path: Path): void {
    const { steps, response } = this.#tool;
    for (const [name, step] of Object.entries(steps)) {
      const result = this.#step(name, step, [...path, "steps", name]);
      this.#scope = joined(this.#scope, withMembers({ [name]: step.each ? { kind: "list", of: result } : result }));
    }
    const given = knownType(this.#file, response.type);
    const at = [...path, "response"];
    const place = { scope: this.#scope };
    if (response.type !== undefined)
      checkValue(response.give, given, [...at, "give"], { place, problems: this.#problems });
    const seen = response.type === undefined ? this.#scope : joined(given, this.#scope);
    checkTemplate(response.text, { scope: seen }, [...at, "text"], this.#problems);
  }

  /** The result of one call. */
  #step(name: string, step: StepSpec, path: Path): KnownValue {
    const { when, each, until } = step;
    const problems = this.#problems;
    if (when !== undefined) {
      const at = [...path, "when"];
      const condition = checkExpression(when, { scope: this.#scope }, at, problems);
      checkKind(condition, { wanted: "truth", consequence: "it would not decide anything" }, at, problems);
    }
    const inner = each ? this.#inside(name, each, path) : this.#scope;
    const called = this.#called(step, path);
    if (!called) return ANYTHING;
    this.#effect(step.call, called, path);
    this.#arguments(step, called, { scope: inner, path });
    const result = resultOf(this.#file, called);
    if (until) this.#until(until, called, { result, path });
    return result;
  }

  #inside(name: string, { list, as }: NonNullable<StepSpec["each"]>, path: Path): KnownValue {
    if (as === name || Object.hasOwn(this.#tool.steps, as)) {
      this.#problems.error([...path, "as"], `"${as}" is also the name of a step`, "Choose another name.");
    }
    const at = [...path, "each"];
    const expression = checkExpression(list, { scope: this.#scope }, at, this.#problems);
    const value = expression ? knownResult(expression, { scope: this.#scope }) : ANYTHING;
    if (value.kind === "single" || value.kind === "object") this.#problems.error(at, "is not a list");
    return joined(this.#scope, withMembers({ [as]: value.kind === "list" ? value.of : ANYTHING }));
  }

  #called({ call }: StepSpec, path: Path): RequestToolSpec | undefined {
    const { tools } = this.#file;
    const at = [...path, "call"];
    const found = findRequestTool(this.#file, call);
    if (call === "" || found) {
      const hint = "A step cannot ask. Call a tool without confirm, and compare values with when.";
      if (found?.confirm) this.#problems.error(at, `${call} has confirm, which asks its caller`, hint);
      return found;
    }
    if (Object.hasOwn(tools, call)) {
      this.#problems.error(at, `${call} itself has steps`, "A step calls a tool that has a request.");
      return undefined;
    }
    const known = requestTools(this.#file).map(([name]) => name);
    const meant = nearestName(call, known);
    const hint = meant ? `Did you mean "${meant}"?` : known.length > 0 ? `There is ${oneOf(known)}.` : undefined;
    this.#problems.error(at, `there is no tool "${call}"`, hint);
    return undefined;
  }

  #effect(call: string, called: RequestToolSpec, path: Path): void {
    const { effect } = this.#tool;
    if (RANKS.indexOf(called.effect) <= RANKS.indexOf(effect)) return;
    const message = `the effect is ${effect}, but the step ${String(path.at(-1))} calls ${call}, which is ${called.effect}`;
    this.#problems.error([...path.slice(0, 2), "effect"], message, `Write effect: ${called.effect}.`);
  }

  #arguments(step: StepSpec, called: RequestToolSpec, { scope, path }: { scope: KnownValue; path: Path }): void {
    const at = [...path, "arguments"];
    const problems = this.#problems;
    checkValue(step.arguments, knownType(this.#file, called.input), at, { place: { scope }, problems });
    const fields = this.#file.types[called.input]?.fields ?? {};
    for (const [field, { hidden, const: constant, value, optional, default: standard, side }] of Object.entries(
      fields,
    )) {
      const isGiven = Object.hasOwn(step.arguments, field);
      const isOwn = hidden || constant !== undefined || value !== undefined || side === "output";
      if (isGiven && isOwn) problems.keyError([...at, field], `${step.call} sets "${field}" itself`, "Leave it out.");
      if (isGiven || isOwn || optional || standard !== undefined) continue;
      problems.error(at, `"${field}" is missing: ${step.call} requires it`);
    }
  }

  #until(
    { that, atMostMs }: NonNullable<StepSpec["until"]>,
    { effect }: RequestToolSpec,
    { result, path }: { result: KnownValue; path: Path },
  ): void {
    const problems = this.#problems;
    const at = [...path, "until"];
    const scope = joined(this.#scope, result, withMembers({ answer: result }));
    const condition = checkExpression(that, { scope }, at, problems);
    checkKind(condition, { wanted: "truth", consequence: "it would not decide anything" }, at, problems);
    if (effect !== "read") problems.error(at, `the tool is ${effect}, and only reads are repeated`);
    const { timeoutMs } = this.#tool.limits;
    if (atMostMs <= timeoutMs) return;
    const message = `the whole tool has ${timeoutMs / 1_000} s, so it cannot wait ${atMostMs / 1_000} s here`;
    problems.error([...path, "atMost"], message, "Raise limits.timeout of the tool.");
  }
}

/** What a step gives: the result of the called tool, as its callers get it. */
function resultOf(file: ToolFile, { response: { as, type }, paging }: RequestToolSpec): KnownValue {
  if (type !== undefined) {
    const shown = knownType(file, type, { hidden: false });
    return paging ? joined(shown, withMembers({ more: ANYTHING })) : shown;
  }
  if (as === "text") return withMembers({ text: SINGLE });
  return as === "none" ? withMembers({}) : ANYTHING;
}
