import { randomBytes } from "node:crypto";
import { Live } from "../../async/live.ts";
import type { Host } from "../../host/host.ts";
import type { HostEvent } from "../../host/servers/server-supervisors.ts";
import { OpenStreams } from "../../server/core/open-streams.ts";
import { principalKey, type Principal } from "../../server/core/principal.ts";
import type { ChangeTopic } from "../../store/keep/generations.ts";
import type { Store } from "../../store/store.ts";
import type { Logger } from "../../text/logger.ts";
import { mayEnter, mayUse, type Actor } from "../../operations/actor.ts";
import type { Session } from "../access/sessions.ts";
import { sha256 } from "../../text/digest.ts";

/** Something that changed. What exactly, its receiver reads from the resource. */
interface GatewayChange {
  /** `state`: of a server. `tools`: the lists of a server. The others are resources. */
  topic: "state" | "tools" | "tenants" | WatchedTopic;
  tenant: string;
  server?: string;
  /** With the topic `state`. */
  state?: string;
}

interface EventHubOptions {
  store: Store;
  logger: Logger;
}

interface Subscriber {
  actor: Actor;
  session: Session | undefined;
  controller: ReadableStreamDefaultController<Uint8Array>;
  /** Counts it no more. */
  leave: () => void;
}

interface KeptEvent {
  number: number;
  change: GatewayChange;
}

const HEARTBEAT_MS = 15_000;
const MAX_EACH = 8;
/** Shared fairly between tenants. */
const MAX_ALL = 256;
/** Events that a client can get after it was away. */
const KEPT = 512;
/** A reader that is so many events behind is dropped; it reads everything again when it comes back. */
const MAX_BEHIND = 1000;
const TOPICS: readonly WatchedTopic[] = ["keys", "sets", "servers", "definitions", "apis"];
const ENCODER = new TextEncoder();

/**
 * Tells operators what changes, as server-sent events. A change in the store says only which kind of thing changed in some
 * tenant; tenants must not hear of each other, so what each can see is compared.
 */
export class EventHub implements Disposable {
  readonly #options: EventHubOptions;
  /** Ids of another process are not continued. */
  readonly #epoch = randomBytes(6).toString("hex");
  readonly #subscribers = new Set<Subscriber>();
  readonly #open = new OpenStreams({ streams: MAX_ALL, areTenantsSeparate: true });
  /** By topic, then tenant. */
  readonly #fingerprints = new Map<WatchedTopic, Map<string, string>>();
  readonly #changed = new Set<ChangeTopic>();
  readonly #comparing: Live<void>;
  #kept: KeptEvent[] = [];
  #number = 0;
  #watching: Promise<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: EventHubOptions) {
    this.#options = options;
    const { store, logger } = options;
    this.#comparing = new Live<void>(undefined, {
      changes: (changed) =>
        store.changes.listen((topic) => {
          this.#changed.add(topic);
          changed();
        }),
      read: () => this.#compare(),
      what: "changes for the event stream",
      logger,
    });
  }

  /** Tells what happens in a host, until that is closed. */
  follow(host: Host): void {
    host.on((event) => this.#hear(host.tenant, event));
  }

  /** A stream of events; undefined where there are too many. `after`: the id of the last event that the client got. */
  async open(actor: Actor, session: Session | undefined, after?: string): Promise<ReadableStream | undefined> {
    await this.#watch();
    const key = principalKey(actor.principal);
    const own = [...this.#subscribers].filter((each) => principalKey(each.actor.principal) === key);
    if (own.length >= MAX_EACH || this.#isClosed) return undefined;
    let subscriber: Subscriber | undefined;
    // Where its tenant has more than another one that needs a stream, it ends; its client opens it again.
    const leave = this.#open.open(key, () => subscriber && this.#finish(subscriber));
    if (!leave) return undefined;
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        subscriber = { actor, session, controller, leave };
        this.#subscribers.add(subscriber);
        this.#welcome(subscriber, after);
        this.#heartbeat ??= setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
      },
      cancel: () => {
        if (subscriber) this.#remove(subscriber);
      },
    });
  }

  /** Ends the streams of actors that may not read them any more. */
  end(isMeant: (actor: Actor, session: Session | undefined) => boolean): void {
    for (const each of this.#subscribers) if (isMeant(each.actor, each.session)) this.#finish(each);
  }

  /** Those who have a stream open. */
  principals(): Principal[] {
    return [...this.#subscribers].map(({ actor }) => actor.principal);
  }

  drain(): void {
    this.#isClosed = true;
    this.end(() => true);
  }

  [Symbol.dispose](): void {
    this.drain();
    this.#comparing[Symbol.dispose]();
    clearInterval(this.#heartbeat);
  }

  /** From the first stream on, so that a client that comes back has missed nothing. Where it fails, the next stream tries again. */
  #watch(): Promise<void> {
    this.#watching ??= this.#beginWatching().catch((error: unknown) => {
      this.#watching = undefined;
      throw error;
    });
    return this.#watching;
  }

  async #beginWatching(): Promise<void> {
    await this.#comparing.follow();
    if (this.#isClosed) return;
    for (const topic of TOPICS) await this.#compareTopic(topic, () => {});
  }

  async #compare(): Promise<void> {
    if (this.#changed.delete("tenants")) this.#publish({ topic: "tenants", tenant: "" });
    for (const topic of TOPICS) {
      if (!this.#changed.delete(topic)) continue;
      try {
        await this.#compareTopic(topic, (tenant) => this.#publish({ topic, tenant }));
      } catch (error) {
        this.#changed.add(topic);
        throw error;
      }
    }
  }

  /** Tells the tenants in which something is not as it was. */
  async #compareTopic(topic: WatchedTopic, tell: (tenant: string) => void): Promise<void> {
    const { store } = this.#options;
    const [before, now] = [this.#fingerprints.get(topic), new Map<string, string>()];
    for (const { name } of await store.tenants.list()) {
      const fingerprint = await fingerprintOf(store, topic, name);
      now.set(name, fingerprint);
      if (before?.get(name) !== fingerprint) tell(name);
    }
    this.#fingerprints.set(topic, now);
  }

  #hear(tenant: string, event: HostEvent): void {
    if (!this.#watching) return;
    const { server } = event;
    if (event.kind === "state") this.#publish({ topic: "state", tenant, server, state: event.state.kind });
    else if (event.kind === "lists") this.#publish({ topic: "tools", tenant, server });
    else this.#publish({ topic: "definitions", tenant, server });
  }

  #publish(change: GatewayChange): void {
    const event = { number: ++this.#number, change };
    this.#kept.push(event);
    if (this.#kept.length > KEPT) this.#kept = this.#kept.slice(-KEPT);
    for (const each of this.#subscribers) this.#send(each, event);
  }

  #welcome(subscriber: Subscriber, after: string | undefined): void {
    const [epoch, number = ""] = after?.split("-") ?? [];
    const last = /^\d{1,15}$/.test(number) ? Number(number) : -1;
    const isKnown = epoch === this.#epoch && last <= this.#number && last >= (this.#kept[0]?.number ?? 1) - 1;
    if (after !== undefined && isKnown) {
      for (const event of this.#kept) if (event.number > last) this.#send(subscriber, event);
      return;
    }
    // What happened before is not known: the client reads what it shows.
    this.#write(subscriber, `id: ${this.#epoch}-${this.#number}\nevent: ready\ndata: {}\n\n`);
  }

  #send(subscriber: Subscriber, { number, change }: KeptEvent): void {
    if (!maySee(subscriber.actor, change)) return;
    this.#write(subscriber, `id: ${this.#epoch}-${number}\nevent: change\ndata: ${JSON.stringify(change)}\n\n`);
  }

  #beat(): void {
    for (const each of this.#subscribers) this.#write(each, ":\n\n");
  }

  #write(subscriber: Subscriber, text: string): void {
    const { controller } = subscriber;
    if ((controller.desiredSize ?? 0) < -MAX_BEHIND) return this.#finish(subscriber);
    controller.enqueue(ENCODER.encode(text));
  }

  #finish(subscriber: Subscriber): void {
    if (!this.#remove(subscriber)) return;
    subscriber.controller.close();
  }

  #remove(subscriber: Subscriber): boolean {
    const isThere = this.#subscribers.delete(subscriber);
    subscriber.leave();
    if (this.#subscribers.size > 0) return isThere;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
    return isThere;
  }
}

function maySee(actor: Actor, { topic, tenant }: GatewayChange): boolean {
  if (topic === "tenants") return actor.allTenants;
  return mayEnter(actor, tenant) && (topic !== "keys" || mayUse(actor, "admin"));
}

/** Topics of the store whose changes are told for each tenant. */
type WatchedTopic = "keys" | "sets" | "servers" | "definitions" | "apis";

/** A text that is another one when what a tenant has of a kind is different. */
async function fingerprintOf(store: Store, topic: WatchedTopic, tenant: string): Promise<string> {
  return sha256(JSON.stringify(await contentOf(store, topic, tenant)));
}

async function contentOf(store: Store, topic: WatchedTopic, tenant: string): Promise<unknown> {
  switch (topic) {
    case "keys":
      // The last use is not a change.
      return (await store.keys.list(tenant)).map(({ usedAt: _usedAt, ...key }) => key);
    case "sets":
      return store.sets.list(tenant);
    case "servers":
      return store.servers(tenant).list();
    case "definitions":
      return (await store.definitions(tenant).pending()).map(({ id, hash }) => [id, hash]);
    case "apis":
      return publishedContent(store, tenant);
  }
}

async function publishedContent(store: Store, tenant: string): Promise<unknown> {
  const apis = store.apis(tenant);
  const versions = [];
  for (const api of await apis.apis()) versions.push(await apis.numbers(api), await apis.records(api));
  return [versions, await apis.instances()];
}
