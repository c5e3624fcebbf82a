import type { IncomingMessage, ServerResponse } from "node:http";
import { FailureLog } from "../gateway/operation/failure-log.ts";
import { KeyDoor } from "../team/key-door.ts";
import { KeyOperations } from "../team/operate/key-operations.ts";
import { TenantOperations } from "../team/operate/tenant-operations.ts";
import { Identification } from "./access/identification.ts";
import type { LoginCodes } from "./access/login-codes.ts";
import { Sessions } from "./access/sessions.ts";
import { RestApi } from "./api.ts";
import { Console } from "./console.ts";
import { API_PATH } from "./openapi.ts";
import type { OperationsOptions } from "./operations.ts";

/** The REST API and the console with what they need. */
export class OpenedOperations implements Disposable {
  readonly #api: RestApi;
  readonly #console: Console;
  readonly #stops: (() => void)[];

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: OperationsOptions, codes: LoginCodes): Promise<OpenedOperations> {
    const { store, logger } = options;
    const own = options.door ? undefined : await KeyDoor.open({ store, needs: "keys", logger });
    return new OpenedOperations(options, codes, own);
  }

  private constructor(options: OperationsOptions, codes: LoginCodes, own: KeyDoor | undefined) {
    const { store, stateFolder, logger } = options;
    const door = options.door ?? own;
    if (!door) throw new TypeError("there is no door");
    const sessions = new Sessions();
    const identification = new Identification(door, sessions);
    const failures = new FailureLog(logger);
    const [keys, tenants] = [new KeyOperations(store), new TenantOperations(store)];
    this.#api = new RestApi(
      { store, door, sessions, identification, keys, tenants, stateFolder, logger },
      (error, operation) => failures.report(error, { method: operation }),
    );
    this.#console = new Console({ codes, sessions, identification });
    this.#stops = [
      door.onExpelled(
        ({ id }) => sessions.end(({ principal }) => principal?.id === id),
        () => sessions.principals(),
      ),
      door.onReplaced((principal) => sessions.end((session) => session.principal === principal)),
      () => own?.[Symbol.dispose](),
    ];
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const isApi = req.url?.startsWith(API_PATH) === true;
    await (isApi ? this.#api.serve(req, res) : this.#console.serve(req, res));
  }

  drain(): void {}

  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
  }
}
