import type { IncomingMessage, ServerResponse } from "node:http";
import type { SecretStore } from "../auth/secrets.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Allowance } from "../gateway/operation/allowance.ts";
import type { OperationsHandler } from "../gateway/edge/operations-handler.ts";
import type { Store } from "../store/store.ts";
import type { KeyDoor } from "../team/key-door.ts";
import type { StoredAudit } from "../team/stored-audit.ts";
import type { Logger } from "../text/logger.ts";
import type { Host } from "../host/host.ts";
import { busyError, shuttingDown } from "../server/core/busy-error.ts";
import { LoginCodes } from "./access/login-codes.ts";
import { EventHub } from "./events/event-hub.ts";
import type { OpenedOperations } from "./opened-operations.ts";

export interface OperationsOptions {
  store: Store;
  /** Undefined where callers of MCP need no key: operators need one nevertheless. */
  door: KeyDoor | undefined;
  /** Where changes are recorded; undefined where they are not. */
  audit: Pick<StoredAudit, "recordIncident" | "requireReady"> | undefined;
  /** Counts requests against limits; undefined where nothing is limited. */
  allowance?: Pick<Allowance, "take"> | undefined;
  /** The secrets of the tenant `default` where they are not in the store. */
  ownSecrets?: SecretStore | undefined;
  stateFolder: string;
  logger: Logger;
}

/** What operations use of a gateway. */
export type OperatedGateway = Pick<Gateway, "findHost" | "useHost" | "activityOf">;

/** `/api/v1` and `/console` of a gateway. What they need is loaded with the first request. */
export class Operations implements OperationsHandler, AsyncDisposable {
  readonly #options: OperationsOptions;
  readonly #codes = new LoginCodes();
  readonly #gateway: Promise<OperatedGateway>;
  #attach: (gateway: OperatedGateway) => void = () => {};
  readonly #events: EventHub;
  #opening: Promise<OpenedOperations> | undefined;
  #isDraining = false;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#events = new EventHub(options);
    this.#gateway = new Promise((resolve) => {
      this.#attach = resolve;
    });
  }

  /** Requests wait until the gateway is known. */
  attach(gateway: OperatedGateway): void {
    this.#attach(gateway);
  }

  /** Tells what happens in a host, until that is closed. */
  follow(host: Host): void {
    this.#events.follow(host);
  }

  /** A link that signs in once. `url`: any address of the gateway. */
  consoleLink(url: string): string {
    return new URL(`/console/login?code=${this.#codes.issue()}`, url).href;
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (this.#isDraining) return refuseAtEnd(req, res);
    this.#opening ??= this.#open();
    await (await this.#opening).serve(req, res);
  }

  /** Ends event streams, and refuses what comes from now on. */
  drain(): void {
    this.#isDraining = true;
    this.#events.drain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drain();
    const opened = await this.#opening?.catch(() => undefined);
    opened?.[Symbol.dispose]();
    this.#events[Symbol.dispose]();
  }

  async #open(): Promise<OpenedOperations> {
    try {
      const { OpenedOperations: Opened } = await import("./opened-operations.ts");
      const gateway = await this.#gateway;
      return await Opened.open({ ...this.#options, gateway, events: this.#events, codes: this.#codes });
    } catch (error) {
      // For example the database is away: the next request tries again.
      this.#opening = undefined;
      throw error;
    }
  }
}

async function refuseAtEnd(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { problemOf, problemResponse } = await import("./http/problem.ts");
  const { writeResponse } = await import("./http/node-exchange.ts");
  req.resume();
  await writeResponse(res, problemResponse(problemOf(busyError(shuttingDown("gateway")))), req.method !== "HEAD");
}
