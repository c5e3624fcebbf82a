import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import type { Codec } from "../record/codec.ts";
import { decodeJson } from "./decode-json.ts";
import { Deviations, type Unknown } from "../record/deviations.ts";
import { encodeJson } from "./encode-json.ts";
import { parseExactJson } from "../../../json/exact-json.ts";
import { MEMBERS } from "./member-path.ts";
import { Planner } from "../record/planner.ts";
import { utf8Text } from "../../../text/utf8-text.ts";

export function jsonCodec(file: ToolFile, type: string, unknown?: Unknown): Codec {
  const plan = new Planner(file, MEMBERS).document(type);
  return {
    encode: (value) => JSON.stringify(encodeJson(plan, value)),
    decode: (body) => {
      const json = parsed(body);
      const found = new Deviations(unknown);
      try {
        return { value: decodeJson(plan, json, found), deviations: found.all() };
      } catch (error) {
        // Unknown parts of an answer may be nested deeper than any stack.
        throw error instanceof RangeError ? unreadable("it is nested too deep") : error;
      }
    },
  };
}

function parsed(body: Uint8Array | string): unknown {
  const text = typeof body === "string" ? body.replace(/^\uFEFF/, "") : utf8Text(body);
  if (text === undefined) throw unreadable("its bytes are not UTF-8");
  try {
    return parseExactJson(text);
  } catch (error) {
    throw unreadable(error instanceof SyntaxError ? `it is not JSON${placeIn(error)}` : "it is nested too deep");
  }
}

function unreadable(problem: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `The JSON cannot be read: ${problem}`, { mayHaveReached: true });
}

/** Only the position: the rest of the message may quote the text, which may contain a part of a secret. */
function placeIn(error: SyntaxError): string {
  const [, position] = /at position (\d+)/.exec(messageOf(error)) ?? [];
  return position === undefined ? "" : ` from character ${Number(position) + 1} on`;
}
