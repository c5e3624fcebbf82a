import type { IncomingMessage } from "node:http";
import type { Limits } from "../limits.ts";
import { invalidRequest, unreadable, type HttpRefusal } from "./http-refusal.ts";
import { isDeeperThan } from "../../protocol/json-depth.ts";

export type ReadJson =
  | { kind: "read"; value: unknown }
  | { kind: "refused"; refusal: HttpRefusal }
  /** Refused while there was more to come. */
  | { kind: "unread"; refusal: HttpRefusal }
  /** The caller left before it had said everything. */
  | { kind: "gone" };

/** The body of a request as JSON, within the limits. Never rejects. */
export function readJson(req: IncomingMessage, limits: Pick<Limits, "bodyBytes" | "jsonDepth">): Promise<ReadJson> {
  const { bodyBytes, jsonDepth } = limits;
  const refusal = (status: number, message: string) => invalidRequest(message, status);
  const type = req.headers["content-type"];
  if (type === undefined || !/^application\/json\s*(?:;|$)/i.test(type)) {
    return unread(refusal(415, `Content-Type must be application/json, not ${type ?? "missing"}`));
  }
  const encoding = req.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return unread(refusal(415, `Content-Encoding ${encoding} is not understood here; send the body as it is`));
  }
  const tooLarge = () => refusal(413, `The request is larger than ${bodyBytes} bytes, which is all that is taken`);
  if (Number(req.headers["content-length"] ?? 0) > bodyBytes) return unread(tooLarge());
  return new Promise((resolve) => {
    // Most bodies come in one piece.
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let bytes = 0;
    req.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bodyBytes) {
        first = more = undefined;
        resolve({ kind: "unread", refusal: tooLarge() });
      } else if (!first) first = chunk;
      else (more ??= [first]).push(chunk);
    });
    req.once("end", () => resolve(parse(more ? Buffer.concat(more) : first, jsonDepth)));
    req.once("error", () => resolve({ kind: "gone" }));
    req.once("close", () => resolve({ kind: "gone" }));
  });
}

function unread(refusal: HttpRefusal): Promise<ReadJson> {
  return Promise.resolve({ kind: "unread", refusal });
}

function parse(body: Buffer | undefined, jsonDepth: number): ReadJson {
  if (!body) return { kind: "refused", refusal: unreadable("The request has no body") };
  const text = body.toString("utf8");
  if (isDeeperThan(text, jsonDepth)) {
    return { kind: "refused", refusal: invalidRequest(`The request is nested deeper than ${jsonDepth} levels`) };
  }
  try {
    return { kind: "read", value: JSON.parse(text) };
  } catch {
    return { kind: "refused", refusal: unreadable("The request is not JSON") };
  }
}
