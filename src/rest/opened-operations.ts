import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_TENANT } from "../auth/server-instance.ts";
import type { NexusError } from "../errors/nexus-error.ts";
import { FailureLog } from "../gateway/operation/failure-log.ts";
import { KeyDoor } from "../team/key-door.ts";
import { toolTarget } from "../host/directory/access-target.ts";
import type { Host } from "../host/host.ts";
import { LoadedToolFiles } from "../operations/loaded-tool-files.ts";
import type { ExplainedServers } from "../operations/services.ts";
import { PublicationCompiler } from "../workshop/publish/publication-compiler.ts";
import { Identification } from "./access/identification.ts";
import type { LoginCodes } from "./access/login-codes.ts";
import { Sessions } from "./access/sessions.ts";
import { RestApi } from "./api.ts";
import { Console } from "./console.ts";
import { API_PATH } from "./openapi.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { OperatedGateway, OperationsOptions } from "./operations.ts";

interface OpenedOptions extends OperationsOptions {
  gateway: OperatedGateway;
  events: EventHub;
  codes: LoginCodes;
}

/** The REST API and the console with what they need. */
export class OpenedOperations implements Disposable {
  readonly #api: RestApi;
  readonly #console: Console;
  readonly #stops: (() => void)[];

  /** Throws STORE_UNAVAILABLE where the database does not answer. */
  static async open(options: OpenedOptions): Promise<OpenedOperations> {
    const { store, logger } = options;
    if (options.door) return new OpenedOperations(options, options.door, () => {});
    const door = await KeyDoor.open({ store, needs: "keys", logger });
    return new OpenedOperations(options, door, () => door[Symbol.dispose]());
  }

  private constructor(options: OpenedOptions, door: KeyDoor, close: () => void) {
    const { store, gateway, events, codes, audit, allowance, ownSecrets, stateFolder, logger } = options;
    const sessions = new Sessions();
    const identification = new Identification(door, sessions);
    const failures = new FailureLog(logger);
    const secretsOf = (tenant: string) => (tenant === DEFAULT_TENANT && ownSecrets) || store.secrets(tenant);
    const useServers = <T>(tenant: string, use: (servers: ExplainedServers) => Promise<T>) =>
      gateway.useHost(tenant, (host) => use(serversOf(host)));
    const [toolFiles, compiler] = [new LoadedToolFiles(), new PublicationCompiler()];
    const services = { store, gateway, useServers, secretsOf, toolFiles, compiler, stateFolder, logger };
    const report = (error: NexusError, method: string) => failures.report(error, { method });
    this.#api = new RestApi({ ...services, sessions, identification, events }, { audit, allowance, report });
    this.#console = new Console({ codes, sessions, identification });
    this.#stops = [
      door.onExpelled(
        ({ id }) => {
          sessions.end(({ principal }) => principal?.id === id);
          events.end(({ principal }) => principal.id === id);
        },
        () => [...sessions.principals(), ...events.principals()],
      ),
      door.onReplaced((replaced) => {
        sessions.end(({ principal }) => principal === replaced);
        events.end(({ principal }) => principal === replaced);
      }),
      sessions.onEnded((ended) => events.end((_actor, session) => session === ended)),
      close,
    ];
  }

  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const isApi = req.url?.startsWith(API_PATH) === true;
    await (isApi ? this.#api.serve(req, res) : this.#console.serve(req, res));
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
  }
}

function serversOf(host: Host): ExplainedServers {
  return {
    directory: host.directory,
    async findTool(server, name) {
      const isMeant = (tool: { name: string }) => tool.name === name;
      const { tools, searched } = host.offered(server);
      const known = [...tools, ...searched].find(isMeant);
      if (known) return toolTarget(server, known, searched);
      // Connects a server that was not used yet.
      const lease = await host.lease(server);
      try {
        const listed = await lease.client.listTools();
        const others = lease.client.searchedIn(listed);
        const found = [...listed, ...others].find(isMeant);
        return found && toolTarget(server, found, others);
      } finally {
        lease.release();
      }
    },
  };
}
