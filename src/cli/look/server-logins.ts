import type { CredentialSummary } from "../../auth/oauth/credential-files.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, type NexusError } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { loginUrlOf } from "../login/login-url.ts";
import { loginForPrograms, loginStateOf, type LoginState } from "../login/login-words.ts";
import type { Cell } from "../output/table.ts";
import type { Sighting } from "../command/sightings.ts";

/** The login of a server as far as it is known without a connection. */
export interface ServerLogin {
  cell: Cell;
  forPrograms: Readonly<Record<string, unknown>>;
}

/** The kept logins. What cannot be read is a problem, not an error of the command. */
export class ServerLogins {
  readonly problem: NexusError | undefined;
  readonly #byUrl: ReadonlyMap<string, CredentialSummary>;

  private constructor(credentials: readonly CredentialSummary[], problem?: NexusError) {
    this.#byUrl = new Map(credentials.map((each) => [keyOf(new URL(each.server)), each]));
    this.problem = problem;
  }

  static async open(
    servers: readonly ServerDefinition[],
    { surroundings, stateFolder }: { surroundings: Surroundings; stateFolder: string },
  ): Promise<ServerLogins> {
    if (!servers.some((server) => loginUrlOf(server) !== undefined)) return new ServerLogins([]);
    try {
      const storage = await openCredentials(surroundings, stateFolder);
      return new ServerLogins((await storage.list()).credentials);
    } catch (error) {
      return new ServerLogins([], asNexusError(error));
    }
  }

  /** Undefined if the server has none, or if nothing is known about it. */
  find(server: ServerDefinition, sighting: Sighting | undefined): ServerLogin | undefined {
    const url = loginUrlOf(server);
    if (url === undefined) return undefined;
    const kept = this.#byUrl.get(keyOf(url));
    const outcome = sighting?.outcome;
    const wasRefused = outcome?.kind === "failed" && outcome.code === "AUTH_REQUIRED";
    if (kept) {
      const { url: _, ...forPrograms } = loginForPrograms(kept);
      return { cell: CELLS[loginStateOf(kept)], forPrograms };
    }
    return wasRefused && !this.problem ? { cell: CELLS.needed, forPrograms: { state: "needed" } } : undefined;
  }
}

const CELLS: Readonly<Record<LoginState | "needed", Cell>> = {
  valid: { text: "logged in", style: "green" },
  renewable: { text: "logged in", style: "green" },
  expired: { text: "expired", style: "yellow" },
  registered: { text: "needs login", style: "yellow" },
  needed: { text: "needs login", style: "yellow" },
};

/** Logins are kept without the fragment. */
function keyOf(url: URL): string {
  return url.href.slice(0, url.href.length - url.hash.length);
}
