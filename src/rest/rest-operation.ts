import type { IncomingHttpHeaders } from "node:http";
import type { AnyForm } from "../format/form.ts";
import type { Actor } from "../operations/actor.ts";
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

interface BrowserOperation<In> extends Omit<RestOperation, "handle" | "input"> {
  input?: AnyForm & { readonly type: In };
  handle(services: RestServices, actor: Actor, input: In, call: RestCall): Promise<unknown>;
}

/** Gives `handle` of an operation that is about HTTP itself the type of its input. */
export function defineRestOperation<In>(operation: BrowserOperation<In>): RestOperation {
  return operation;
}

/** An answer with headers. */
export class HeadedAnswer {
  readonly value: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(value: unknown, headers: Readonly<Record<string, string>>) {
    this.value = value;
    this.headers = headers;
  }
}
