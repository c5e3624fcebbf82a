import type { Problems } from "../../../format/problem.ts";
import { requestTools } from "../model/request-tools.ts";
import type { ToolFile } from "../model/tool-file.ts";

/** Warnings for the reviewer: claims without evidence, and effects that do not match the method or the description. */
export function checkAdvice(file: ToolFile, problems: Problems): void {
  checkEvidence(file, problems);
  for (const [name, { effect, request, outcomeUnknown }] of requestTools(file)) {
    const { method } = request;
    if (effect === "read" && ["DELETE", "PUT", "PATCH"].includes(method)) {
      problems.warning(["tools", name, "effect"], `${method} changes something, but the effect is read`);
    }
    if (effect !== "read" && method === "GET") {
      problems.warning(["tools", name, "effect"], `GET changes nothing, but the effect is ${effect}`);
    }
    if (effect !== "read" && outcomeUnknown === undefined) {
      const hint = "Say how a caller finds out whether it was done, when no answer came.";
      problems.warning(["tools", name], "outcomeUnknown is missing", hint);
    }
  }
}

function checkEvidence(file: ToolFile, problems: Problems): void {
  if (Object.keys(file.documents).length === 0) {
    problems.warning([], "no document is named, so nothing in this file has evidence");
    return;
  }
  for (const [name, { fields, rules }] of Object.entries(file.types)) {
    for (const [field, { evidence }] of Object.entries(fields)) {
      if (evidence.length === 0) problems.warning(["types", name, "fields", field], "has no evidence");
    }
    rules.forEach(({ evidence }, index) => {
      if (evidence.length === 0) problems.warning(["types", name, "rules", index], "has no evidence");
    });
  }
}
