import type { IncomingHttpHeaders } from "node:http";
import type { AnyOperation, OperationCall } from "../operations/operation.ts";
import type { Services } from "../operations/services.ts";
import type { Identification } from "./access/identification.ts";
import type { Session, Sessions } from "./access/sessions.ts";
import type { EventHub } from "./events/event-hub.ts";

/** What the operations of browsers work on as well. */
export interface RestServices extends Services {
  sessions: Sessions;
  identification: Identification;
  events: EventHub;
}

/** A request over HTTP, beside its input. */
export interface RestCall extends OperationCall {
  readonly headers: IncomingHttpHeaders;
  readonly session: Session | undefined;
}

/** An operation as the REST API has it: all of them, and those that are about HTTP itself. */
export type RestOperation = AnyOperation<RestServices, RestCall>;

/** An answer with headers. */
export class HeadedAnswer {
  readonly value: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(value: unknown, headers: Readonly<Record<string, string>>) {
    this.value = value;
    this.headers = headers;
  }
}
