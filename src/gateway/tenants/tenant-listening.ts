import { callListener } from "../../async/call-listener.ts";
import { Turns } from "../../async/turns.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { Interests } from "../../protocol/interests.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { Listening } from "../../server/core/core.ts";
import type { Logger } from "../../text/logger.ts";
import type { GatewayListenRequest } from "../names/view.ts";
import type { Views } from "../requests/views.ts";
import type { Suspendable, TenantLifetime } from "./tenant-lifetime.ts";

/**
 * What a caller listens to. It does not keep the tenant open: a caller that waits for changes has a stream, which does.
 * After the host was closed it begins again with the next one, and says that everything may have changed meanwhile.
 */
export class TenantListening implements Listening, Suspendable {
  readonly #request: GatewayListenRequest;
  readonly #lifetime: TenantLifetime;
  readonly #logger: Logger;
  readonly #turns = new Turns();
  readonly #leave: () => void;
  #interests: Interests;
  #current: Listening | undefined;
  #accepted: Interests = {};
  #wasSuspended = false;
  #isClosed = false;

  static async open(request: GatewayListenRequest, lifetime: TenantLifetime, logger: Logger): Promise<TenantListening> {
    const listening = new TenantListening(request, lifetime, logger);
    try {
      await listening.update(request.interests);
      return listening;
    } catch (error) {
      await listening.close();
      throw error;
    }
  }

  private constructor(request: GatewayListenRequest, lifetime: TenantLifetime, logger: Logger) {
    this.#request = request;
    this.#lifetime = lifetime;
    this.#logger = logger;
    this.#interests = request.interests;
    this.#leave = lifetime.follow(this);
  }

  get accepted(): Interests {
    return this.#accepted;
  }

  update(interests: Interests): Promise<void> {
    return this.#turns.run(() =>
      this.#lifetime.use(async (views) => {
        await (this.#current ? this.#current.update(interests) : this.#listen(views, interests));
        this.#interests = interests;
        this.#accepted = this.#current?.accepted ?? {};
      }),
    );
  }

  /** Its host is closed, and closes what listened there. */
  suspend(): void {
    if (this.#current) this.#wasSuspended = true;
    this.#current = undefined;
  }

  resume(): void {
    if (!this.#wasSuspended) return;
    const resuming = this.#turns.run(() =>
      this.#lifetime.use(async (views) => {
        if (!this.#current) await this.#listen(views, this.#interests);
      }),
    );
    resuming.catch((error: unknown) => {
      this.#logger.debug(`cannot subscribe again after the tenant was opened: ${messageOf(error)}`);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
    await this.#turns.ended();
    await this.#current?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(views: Views, interests: Interests): Promise<void> {
    if (this.#isClosed) return;
    this.#current = await views.listen({ ...this.#request, interests });
    this.#accepted = this.#current.accepted;
    if (this.#wasSuspended) this.#tellMissed();
    this.#wasSuspended = false;
  }

  #tellMissed(): void {
    const { lists = [], resources = [] } = this.#accepted;
    for (const list of lists) this.#tell(`notifications/${list}/list_changed`);
    for (const uri of resources) this.#tell("notifications/resources/updated", { uri });
  }

  #tell(method: string, params?: Params): void {
    const notification = params ? { jsonrpc: "2.0" as const, method, params } : { jsonrpc: "2.0" as const, method };
    callListener(() => this.#request.onChange(notification), this.#logger);
  }
}
