import type { IncomingHttpHeaders } from "node:http";
import type * as z from "zod";
import type { Access, Actor } from "../access/actor.ts";
import type { Session } from "../access/sessions.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One operation of the REST API. Routes, checks, the OpenAPI document and its tests are made of these. */
export interface RestOperation<Api = unknown, Query = unknown, Body = unknown> {
  /** Unique: `listKeys`. */
  id: string;
  method: Method;
  /** Below `/api/v1`, with parameters in braces. One that contains `{tenant}` is for those who may enter the tenant. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  access: Access;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** The longest body; undefined: as usual. */
  maxBytes?: number;
  /** Without a schema the answer has no body, or is not JSON. */
  answer: { status: 200 | 201 | 202 | 204; schema?: z.ZodType; mediaType?: string };
  /** Members of the answer that change by themselves: `If-Match` does not compare them. */
  volatile?: readonly string[];
  /** Statuses of failures that are particular to it. */
  fails?: readonly number[];
  /** Returns the value of the answer, an `HeadedAnswer`, a `Response`, or a `Failed`. */
  handle(call: OperationCall<Api, Query, Body>): Promise<unknown>;
}

/** One request, after it was checked. */
interface OperationCall<Api, Query, Body> {
  api: Api;
  actor: Actor;
  session: Session | undefined;
  /** The parameters of the path. */
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  headers: IncomingHttpHeaders;
  /** Aborted when the client has left. */
  signal: AbortSignal;
}

/** An answer with headers, or one that is not JSON. */
export class HeadedAnswer {
  readonly value: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(value: unknown, headers: Readonly<Record<string, string>>) {
    this.value = value;
    this.headers = headers;
  }
}
