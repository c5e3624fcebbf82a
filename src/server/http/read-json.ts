import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Turns } from "../../async/turns.ts";
import { NO_ROOM, SMALL_BYTES, type ByteClaim } from "../core/byte-budget.ts";
import type { JsonBodyLimits, ServerLimits } from "../core/limits.ts";
import { jsonRefusal } from "../core/received-message.ts";
import { invalidRequest, overloaded, unreadable, type HttpRefusal } from "./http-refusal.ts";

export type ReadJson =
  /** `claim` is for the bytes, which are held as long as the value is; absent where they are few. */
  | { kind: "read"; value: unknown; claim?: ByteClaim | undefined }
  | { kind: "refused"; refusal: HttpRefusal }
  /** Refused while there was more to come. */
  | { kind: "unread"; refusal: HttpRefusal }
  /** The caller left before it had said everything. */
  | { kind: "gone" };

export interface ReadJsonOptions extends Pick<ServerLimits, "bodyBytes">, JsonBodyLimits {
  /** Maximum bytes of a body of this caller, where that is less. */
  ofCaller?: number | undefined;
  /** Where the bytes are counted. */
  claim: (giveUp: () => void) => ByteClaim;
}

/** About what a piece of a body takes beside its bytes: some clients send one byte at a time. */
const PIECE_BYTES = 256;
/** From here on, a body takes so long that those of several callers are not parsed in the same turn of the event loop. */
const LARGE_BYTES = 64 * 1024;
/** Of all servers of the process: they share the event loop. */
const largeBodies = new Turns();

/** The body of a request as JSON, within the limits. Never rejects. */
export function readJson(req: IncomingMessage, options: ReadJsonOptions): Promise<ReadJson> {
  const { ofCaller = Infinity } = options;
  const bodyBytes = Math.min(options.bodyBytes, ofCaller);
  const refusal = (status: number, message: string) => invalidRequest(message, status);
  const type = req.headers["content-type"];
  if (type === undefined || !/^application\/json\s*(?:;|$)/i.test(type)) {
    return unread(refusal(415, `Content-Type must be application/json, not ${type ?? "missing"}`));
  }
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return unread(refusal(415, `Content-Encoding ${encoding} is not supported. Send the body uncompressed`));
  }
  const tooLarge = () => (ofCaller === bodyBytes ? tooLargeFor(ofCaller) : refusal(413, exceeds(bodyBytes)));
  const declared = Number(req.headers["content-length"] ?? Infinity);
  if (declared > bodyBytes && declared !== Infinity) return unread(tooLarge());
  return new Promise((resolve) => {
    let claim: ByteClaim | undefined;
    let pieces: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    let isWhole = false;
    const finish = (read: ReadJson) => {
      if (isOver) return;
      isOver = true;
      pieces = [];
      if (read.kind === "read") read.claim = claim;
      else claim?.release();
      resolve(read);
    };
    const refuseRest = (why: HttpRefusal) => finish({ kind: "unread", refusal: why });
    req.on("data", (piece: Buffer) => {
      if (isOver) return;
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > bodyBytes) return refuseRest(tooLarge());
      if (!claim && bytes === declared && bytes <= SMALL_BYTES) return;
      claim ??= options.claim(() => refuseRest(overloaded(NO_ROOM)));
      if (!claim.resize(bytes + pieces.length * PIECE_BYTES)) refuseRest(overloaded(NO_ROOM));
    });
    req.once("end", () => {
      if (isOver) return;
      claim?.giveUpBy(undefined);
      isWhole = true;
      if (bytes < LARGE_BYTES) return finish(parse(pieces, options));
      void largeBodies.run(async () => {
        await nextTurn();
        // Nobody waits for what a caller sent that left meanwhile.
        const read: ReadJson = req.socket.destroyed ? { kind: "gone" } : parse(pieces, options);
        // What is done with it begins in a turn of its own.
        await nextTurn();
        finish(read);
      });
    });
    req.once("error", () => finish({ kind: "gone" }));
    // It also comes after the end.
    req.once("close", () => {
      if (!isWhole) finish({ kind: "gone" });
    });
  });
}

function exceeds(bytes: number): string {
  return `The request body exceeds the limit of ${bytes} bytes`;
}

/** Repeating it is useless, so it does not say when to come again. */
function tooLargeFor(max: number): HttpRefusal {
  const { error } = invalidRequest(`${exceeds(max)} for this caller`);
  const data = { code: "MESSAGE_TOO_LARGE", limit: { name: "max-request", max } };
  return { status: 413, error: { ...error, data } };
}

function unread(refusal: HttpRefusal): Promise<ReadJson> {
  return Promise.resolve({ kind: "unread", refusal });
}

function parse(pieces: readonly Buffer[], limits: JsonBodyLimits): ReadJson {
  const [first] = pieces;
  if (!first) return { kind: "refused", refusal: unreadable("The request has no body") };
  // Most bodies come in one piece.
  const text = (pieces.length === 1 ? first : Buffer.concat(pieces)).toString("utf8");
  const refused = jsonRefusal(text, "The request", limits);
  if (refused) {
    const { error, status } = invalidRequest(refused.message, refused.data ? 413 : 400);
    return { kind: "refused", refusal: { status, error: { ...error, ...(refused.data && { data: refused.data }) } } };
  }
  try {
    return { kind: "read", value: JSON.parse(text) };
  } catch {
    return { kind: "refused", refusal: unreadable("The request is not valid JSON") };
  }
}
