import { isRecord } from "../../src/json/is-record.ts";
import { definitionOf, errorDefinition, resultDefinition } from "./definitions.ts";
import type { Judge } from "./judges.ts";

type Direction = "in" | "out";

export interface Line {
  direction: Direction;
  message: unknown;
}

export interface Review {
  /** The definitions that messages were compared with. */
  compared: Map<string, number>;
  complaints: string[];
}

const SENDER = { in: "Client", out: "Server" } as const;

/** Compares every message of a transcript with its definition. `in` is what the client sent, `out` the server. */
export function review(lines: readonly Line[], judge: Judge): Review {
  const requests = {
    in: new Map<unknown, Record<string, unknown>>(),
    out: new Map<unknown, Record<string, unknown>>(),
  };
  const result: Review = { compared: new Map(), complaints: [] };

  for (const line of lines.flatMap(unbatched)) {
    const { message, direction } = line;
    compareWith("JSONRPCMessage", message, line);
    if (!isRecord(message)) continue;
    if ("method" in message) {
      if ("id" in message) requests[direction].set(message["id"], message);
      compareSpoken(message, line);
    } else {
      compareAnswer(message, line);
    }
  }
  return result;

  function compareSpoken(message: Record<string, unknown>, line: Line): void {
    const kind = "id" in message ? "Request" : "Notification";
    compareWith(definitionOf(message) ?? String(message["method"]), message, line);
    // Whether it is this side's to send: modern servers make no requests, for one.
    if (judge.isComplete) compareWith(`${SENDER[line.direction]}${kind}`, message, line);
  }

  function compareAnswer({ id, result: value, error }: Record<string, unknown>, line: Line): void {
    const definition = isRecord(error) ? errorDefinition(error) : undefined;
    if (definition !== undefined) compareWith(definition, line.message, line);
    if (!isRecord(value)) return;
    const request = requests[line.direction === "in" ? "out" : "in"].get(id);
    if (request) compareWith(resultDefinition(request, value), value, line);
    else complain(line, "answers a request that nobody made");
  }

  function compareWith(definition: string, value: unknown, line: Line): void {
    if (!judge.has(definition)) {
      if (judge.isComplete) complain(line, `this revision has no ${definition}`);
      return;
    }
    result.compared.set(definition, (result.compared.get(definition) ?? 0) + 1);
    const complaint = judge.complaint(definition, value);
    if (complaint !== undefined) complain(line, `${definition}: ${complaint}`);
  }

  function complain({ direction, message }: Line, complaint: string): void {
    result.complaints.push(`${SENDER[direction]}: ${complaint}\n${JSON.stringify(message)}`);
  }
}

function unbatched(line: Line): Line[] {
  return Array.isArray(line.message) ? line.message.map((message: unknown) => ({ ...line, message })) : [line];
}
