import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { ToolFile } from "../file/tool-file.ts";
import type { Codec } from "./codec.ts";
import { decodeJson } from "./decode-json.ts";
import { Deviations } from "./deviations.ts";
import { encodeJson } from "./encode-json.ts";
import { MEMBERS } from "./member-path.ts";
import { Planner } from "./planner.ts";

export function jsonCodec(file: ToolFile, type: string): Codec {
  const plan = new Planner(file, MEMBERS).document(type);
  return {
    encode: (value) => JSON.stringify(encodeJson(plan, value)),
    decode: (body) => {
      const json = parsed(body);
      const found = new Deviations();
      const value = decodeJson(plan, json, found);
      return { value, deviations: found.all() };
    },
  };
}

function parsed(body: Uint8Array | string): unknown {
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const problem = error instanceof SyntaxError ? messageOf(error) : "its bytes are no UTF-8";
    throw new NexusError("PROTOCOL_VIOLATION", `The JSON cannot be read: ${problem}`, { mayHaveReached: true });
  }
}
