import type { IncomingMessage } from "node:http";
import { NO_ROOM, SMALL_BYTES, type ByteClaim } from "../core/byte-budget.ts";
import type { ServerLimits } from "../core/limits.ts";
import { invalidRequest, overloaded, unreadable, type HttpRefusal } from "./http-refusal.ts";
import { isDeeperThan } from "../../json/nesting.ts";

export type ReadJson =
  /** `claim` is for the bytes, which are held as long as the value is; absent where they are few. */
  | { kind: "read"; value: unknown; claim?: ByteClaim | undefined }
  | { kind: "refused"; refusal: HttpRefusal }
  /** Refused while there was more to come. */
  | { kind: "unread"; refusal: HttpRefusal }
  /** The caller left before it had said everything. */
  | { kind: "gone" };

export interface ReadJsonOptions extends Pick<ServerLimits, "bodyBytes" | "jsonDepth"> {
  /** Maximum bytes of a body of this caller, where that is less. */
  ofCaller?: number | undefined;
  /** Where the bytes are counted. */
  claim: (giveUp: () => void) => ByteClaim;
}

/** About what a piece of a body takes beside its bytes: some clients send one byte at a time. */
const PIECE_BYTES = 256;

/** The body of a request as JSON, within the limits. Never rejects. */
export function readJson(req: IncomingMessage, options: ReadJsonOptions): Promise<ReadJson> {
  const { jsonDepth, ofCaller = Infinity } = options;
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
      finish(parse(pieces, jsonDepth));
    });
    req.once("error", () => finish({ kind: "gone" }));
    req.once("close", () => finish({ kind: "gone" }));
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

function parse(pieces: readonly Buffer[], jsonDepth: number): ReadJson {
  const [first] = pieces;
  if (!first) return { kind: "refused", refusal: unreadable("The request has no body") };
  // Most bodies come in one piece.
  const text = (pieces.length === 1 ? first : Buffer.concat(pieces)).toString("utf8");
  if (isDeeperThan(text, jsonDepth)) {
    return { kind: "refused", refusal: invalidRequest(`The request is nested deeper than ${jsonDepth} levels`) };
  }
  try {
    return { kind: "read", value: JSON.parse(text) };
  } catch {
    return { kind: "refused", refusal: unreadable("The request is not valid JSON") };
  }
}
