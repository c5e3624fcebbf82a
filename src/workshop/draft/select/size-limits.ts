import type { ApiFacts, OmittedOperation, OperationFacts } from "../../documents/api-facts.ts";
import { MAX_TOOL_FILE_BYTES } from "../../file/model/read-yaml.ts";
import { unreadable } from "../../documents/parse-document.ts";

/** What one tool file can have. Larger descriptions would take minutes, and nobody could review the file. */
const MOST_TOOLS = 3_000;
/** Parameters and members of the body of one request. */
const MOST_ARGUMENTS = 1_000;

/** The operations that are small enough for a tool, and the others with the reason. */
export function fittingOperations({ operations, omitted }: ApiFacts): {
  fitting: OperationFacts[];
  large: OmittedOperation[];
} {
  const large = new Map<OperationFacts, OmittedOperation>();
  for (const operation of operations) {
    const count = argumentsOf(operation);
    if (count <= MOST_ARGUMENTS) continue;
    const detail = `${count} arguments, more than the limit of ${MOST_ARGUMENTS}`;
    large.set(operation, { key: operation.key, reason: "too-large", detail, evidence: operation.evidence });
  }
  const [first] = [...omitted.filter(({ reason }) => reason === "too-large"), ...large.values()];
  if (first && large.size === operations.length) {
    throw unreadable(
      `The description has no operation that can be a tool: ${first.key.slice(0, 100)} has ${first.detail ?? "too many parts"}`,
      "Leave out arguments that callers do not need, and import again.",
    );
  }
  return { fitting: operations.filter((operation) => !large.has(operation)), large: [...large.values()] };
}

function argumentsOf({ parameters, body }: OperationFacts): number {
  const members = body?.contents.map(({ schema }) => schema?.properties.size ?? 0) ?? [];
  return parameters.length + Math.max(0, ...members);
}

/** Refuses more operations than a tool file can have. */
export function checkToolCount(count: number): void {
  if (count <= MOST_TOOLS) return;
  throw unreadable(`${count} operations are more than the ${MOST_TOOLS} that a tool file can have, the limit`, FEWER);
}

/** Refuses a draft that could not be read again. */
export function checkFileSize(text: string): void {
  if (Buffer.byteLength(text) <= MAX_TOOL_FILE_BYTES) return;
  throw unreadable(`The tool file would be larger than ${MAX_TOOL_FILE_BYTES} bytes, the limit`, FEWER);
}

const FEWER =
  "Choose the operations that are needed with --select, for example --select tag:orders or --select 'path:/orders/**'.";
