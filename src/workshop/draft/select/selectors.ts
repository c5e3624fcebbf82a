import { joinFirst } from "../../../text/shorten.ts";
import { visible } from "../../../text/visible.ts";
import type { OperationFacts } from "../../documents/api-facts.ts";
import type { Effect } from "../../file/model/tool-file.ts";
import { NexusError } from "../../../errors/nexus-error.ts";

/** What a selector is compared with. */
export interface Selectable {
  operation: OperationFacts;
  name: string;
  effect: Effect;
}

interface Selector {
  excludes: boolean;
  matches: (item: Selectable) => boolean;
}

const EFFECTS: readonly string[] = ["read", "write", "destructive"];

/**
 * `tag:pets`, `path:/pets/**`, `op:listPets`, `tool:list_*`, `read`, `write`, `destructive`, or a pattern for any of
 * names, ids and tags; `-` before it excludes. Everything is selected that one selector includes and none excludes.
 * Throws if nothing is.
 */
export function selected<T extends Selectable>(items: readonly T[], texts: readonly string[]): Set<T> {
  const selectors = texts.map(parseSelector);
  const including = selectors.filter(({ excludes }) => !excludes);
  const excluding = selectors.filter(({ excludes }) => excludes);
  const chosen = items.filter(
    (item) =>
      (including.length === 0 || including.some(({ matches }) => matches(item))) &&
      !excluding.some(({ matches }) => matches(item)),
  );
  if (chosen.length === 0 && items.length > 0) throw nothingSelected(items, texts);
  return new Set(chosen);
}

function nothingSelected(items: readonly Selectable[], texts: readonly string[]): NexusError {
  const tags = [...new Set(items.flatMap(({ operation }) => operation.tags))];
  const known = tags.length === 0 ? "" : ` The document has the tags ${visible(joinFirst(tags, 10))}.`;
  const given = visible(texts.map((text) => `--select ${JSON.stringify(text)}`).join(" "));
  return new NexusError("ARGUMENTS_INVALID", `None of ${items.length} operations is selected by ${given}`, {
    hint: `Use tag:NAME, path:/pets/**, op:ID, or a pattern for names such as list_*.${known}`,
    mayHaveReached: false,
  });
}

function parseSelector(text: string): Selector {
  const excludes = text.startsWith("-") || text.startsWith("!");
  const own = (excludes ? text.slice(1) : text).trim();
  if (own === "") {
    throw new NexusError("ARGUMENTS_INVALID", `--select "${text}" selects nothing`, {
      hint: "Use tag:pets, path:/pets/**, op:listPets, read, a tool name with *, or -… to exclude.",
      mayHaveReached: false,
    });
  }
  return { excludes, matches: matcherOf(own) };
}

function matcherOf(text: string): Selector["matches"] {
  const [, kind, value = ""] = /^(tag|path|op|tool|method):(.*)$/s.exec(text) ?? [];
  const is = wildcard(kind === undefined ? text : value);
  switch (kind) {
    case "tag":
      return ({ operation }) => operation.tags.some(is);
    case "path": {
      const isPath = pathPattern(value);
      return ({ operation }) => isPath(operation.path);
    }
    case "op":
      return ({ operation }) => is(operation.id ?? "") || is(operation.key);
    case "tool":
      return ({ name }) => is(name);
    case "method":
      return ({ operation }) => is(operation.method);
    case undefined:
    default:
      if (EFFECTS.includes(text)) return ({ effect }) => effect === text;
      if (text.startsWith("/")) {
        const isPath = pathPattern(text);
        return ({ operation }) => isPath(operation.path);
      }
      return ({ operation, name }) =>
        is(name) || is(operation.id ?? "") || is(operation.key) || operation.tags.some(is);
  }
}

/** `*` stands for any text; capitals do not matter. */
function wildcard(pattern: string): (text: string) => boolean {
  const parts = pattern.toLowerCase().split("*");
  return (text) => fits(text.toLowerCase(), parts);
}

/** `*` stands for one step of a path, `**` for any number of them; parameters are compared by their places. */
function pathPattern(pattern: string): (path: string) => boolean {
  const wanted = stepsOf(pattern);
  const matches = (steps: readonly string[], from: number): boolean => {
    for (let at = from; at < wanted.length; at++) {
      const want = wanted[at] ?? "";
      if (want === "**") {
        // A later ** can take whatever this one leaves.
        for (let skip = 0; skip <= steps.length; skip++) if (matches(steps.slice(skip), at + 1)) return true;
        return false;
      }
      const [step, ...rest] = steps;
      if (step === undefined || !(wildcard(want)(step) || (isParameter(want) && isParameter(step)))) return false;
      steps = rest;
    }
    return steps.length === 0;
  };
  return (path) => matches(stepsOf(path), 0);
}

function stepsOf(path: string): string[] {
  return path
    .split("/")
    .filter((step) => step !== "")
    .slice(0, 40);
}

function isParameter(step: string): boolean {
  return step.startsWith("{") && step.endsWith("}");
}

function fits(text: string, parts: readonly string[]): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
