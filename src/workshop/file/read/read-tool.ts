import { type Part, present, readStatus } from "../../../format/part.ts";
import { readChecks } from "./read-checks.ts";
import { readEvidence } from "./read-evidence.ts";
import type { Known } from "./read-shape.ts";
import { readPaging } from "./read-paging.ts";
import { readRequest, readResponse } from "./read-request.ts";
import { readSteps, readStepsResponse } from "./read-steps.ts";
import { readTimeout } from "./read-upstream.ts";
import type { ConfirmSpec } from "../model/call-spec.ts";
import { DEFAULT_DOWNLOAD_BYTES, type Effect, type ErrorSpec, type ToolSpec } from "../model/tool-file.ts";

const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const KEYS = [
  "title",
  "description",
  "effect",
  "meta",
  "input",
  "unknown",
  "request",
  "paging",
  "steps",
  "response",
  "errors",
  "outcomeUnknown",
  "limits",
  "confirm",
  "examples",
  "checks",
  "evidence",
  "offer",
];
/** Of all steps together. */
const DEFAULT_STEPS_TIMEOUT_MS = 120_000;
const MAX_RETRIES = 5;
const DEFAULT_RETRIES = 2;
const DEFAULT_RESULT_BYTES = 16 * 1024;
const MAX_RESULT_BYTES = 1024 * 1024;
const MAX_DOWNLOAD_BYTES = 16 * 1024 * 1024;

/** getMuseumHours and get-museum-hours become get_museum_hours. */
function snakeCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

export function readTools(part: Part, known: Known, timeoutMs: number): Record<string, ToolSpec> {
  return Object.fromEntries(
    part.entries().map(([name, tool]) => {
      if (!NAME.test(name)) {
        const hint = "Small letters, digits and _, at most 64, beginning with a letter.";
        const snake = snakeCase(name);
        tool.keyError(`"${name}" cannot be the name of a tool`, NAME.test(snake) ? `Write ${snake}. ${hint}` : hint);
      }
      return [name, readTool(tool, known, timeoutMs)];
    }),
  );
}

function readTool(part: Part, { documents }: Known, timeoutMs: number): ToolSpec {
  const isSteps = part.has("steps");
  part.members(KEYS, ["title", "description", "effect", "input", isSteps ? "steps" : "request", "response"]);
  if (isSteps) refuseWithSteps(part);
  const effect = part.part("effect").choice(["read", "write", "destructive"]) ?? "read";
  const meta = part.part("meta");
  meta.members(["owner", "category", "safety"]);
  const about = {
    title: part.part("title").text() ?? "",
    description: part.part("description").text() ?? "",
    effect,
    meta: present({
      owner: meta.part("owner").text(),
      category: meta.part("category").text(),
      safety: meta.part("safety").text(),
    }),
    input: part.part("input").text() ?? "",
    unknown: part.part("unknown").choice(["reject", "drop"]) ?? ("reject" as const),
  };
  const rest = {
    errors: part.part("errors").items().map(readError),
    outcomeUnknown: part.part("outcomeUnknown").text(),
    limits: readLimits(part.part("limits"), effect, isSteps ? DEFAULT_STEPS_TIMEOUT_MS : timeoutMs),
    confirm: part.has("confirm") ? readConfirm(part.part("confirm")) : undefined,
    examples: part.part("examples").items().map(readExample),
    checks: readChecks(part.part("checks")),
    evidence: readEvidence(part.part("evidence"), documents),
    offer: readOffer(part.part("offer")),
  };
  const response = part.part("response");
  if (isSteps) {
    return present({ ...about, steps: readSteps(part.part("steps")), response: readStepsResponse(response), ...rest });
  }
  const paging = part.has("paging") ? readPaging(part.part("paging")) : undefined;
  return present({
    ...about,
    request: readRequest(part.part("request")),
    paging,
    response: readResponse(response),
    ...rest,
  });
}

/** Members that describe a request. */
function refuseWithSteps(part: Part): void {
  if (part.has("request")) part.part("request").keyError("a tool has a request or steps, not both");
  for (const key of ["paging", "errors", "outcomeUnknown", "confirm"]) {
    if (part.has(key))
      part.part(key).keyError("belongs to a tool with a request", "Write it at the tool that the step calls.");
  }
}

/** The default is the same, written or not. */
function readOffer(part: Part): ToolSpec["offer"] {
  const offer = part.choice(["listed", "search", "none"]);
  return offer === "listed" ? undefined : offer;
}

function readError(part: Part): ErrorSpec {
  part.members(["status", "that", "say", "try", "outcome"], ["say"]);
  if (part.isMap && !part.has("status") && !part.has("that"))
    part.error("does not say when", "Give status, that, or both.");
  return present({
    status: part.part("status").oneOrMore().flatMap(readStatus),
    that: part.part("that").text(),
    say: part.part("say").text() ?? "",
    try: part.part("try").text(),
    outcome: part.part("outcome").choice(["refused", "unknown"]),
  });
}

function readLimits(part: Part, effect: Effect, timeoutMs: number): ToolSpec["limits"] {
  part.members(["timeout", "retries", "result", "download"]);
  const retries = part.part("retries").integer();
  if (retries !== undefined && retries > MAX_RETRIES) part.part("retries").error(`must be ${MAX_RETRIES} or less`);
  if (retries !== undefined && retries > 0 && effect !== "read") {
    part.part("retries").warning(`a ${effect} call is never repeated by itself`, "Write 0, or leave it out.");
  }
  const downloadBytes = readBytes(part.part("download"), MAX_DOWNLOAD_BYTES);
  return {
    timeoutMs: readTimeout(part.part("timeout")) ?? timeoutMs,
    retries: effect === "read" ? (retries ?? DEFAULT_RETRIES) : 0,
    resultBytes: readBytes(part.part("result"), MAX_RESULT_BYTES) ?? DEFAULT_RESULT_BYTES,
    // The default is the same, written or not.
    ...(downloadBytes === undefined || downloadBytes === DEFAULT_DOWNLOAD_BYTES ? {} : { downloadBytes }),
  };
}

/** "16kB", "1MB", or a number of bytes. */
function readBytes(part: Part, most: number): number | undefined {
  if (!part.isThere) return undefined;
  const [, amount, unit = "B"] = /^(\d+)\s*(B|kB|MB)?$/i.exec(part.source() ?? "") ?? [];
  const bytes = Number(amount) * ({ b: 1, kb: 1024, mb: 1024 * 1024 }[unit.toLowerCase()] ?? 1);
  if (bytes >= 256 && bytes <= most) return bytes;
  part.error(`must be a size from 256 bytes to ${most / (1024 * 1024)}MB, like 16kB`);
  return undefined;
}

function readConfirm(part: Part): ConfirmSpec {
  const keys = ["field", "call", "arguments", "find", "actual", "ask", "gone"];
  part.members(keys, keys);
  return {
    field: part.part("field").text() ?? "",
    call: part.part("call").text() ?? "",
    arguments: part.part("arguments").record(),
    find: part.part("find").text() ?? "null",
    actual: part.part("actual").text() ?? "null",
    ask: part.part("ask").text() ?? "",
    gone: part.part("gone").text() ?? "",
  };
}

function readExample(part: Part): ToolSpec["examples"][number] {
  part.members(["title", "arguments"], ["arguments"]);
  return present({ title: part.part("title").text(), arguments: part.part("arguments").record() });
}
