import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { Root } from "../../protocol/mcp.ts";

/** The roots of servers: those that a program sets while a host runs, then those of the entries, then those for the others. */
export class HostRoots {
  readonly #cwd: string | undefined;
  #ofAll: readonly Root[] | undefined;
  readonly #byServer = new Map<string, readonly Root[]>();
  readonly #ofOthers: readonly Root[] | undefined;

  /** `cwd`: the base of relative paths; default: the working folder. `others`: for programs whose entries have none. */
  constructor(cwd: string | undefined, others: readonly (string | Root)[] | undefined) {
    this.#cwd = cwd;
    this.#ofOthers = others?.map((root) => this.#toRoot(root));
  }

  /** Undefined: it has none. The same object until other roots are set. */
  of({ id, entry, trusted }: ServerDefinition): readonly Root[] | undefined {
    const isProgram = trusted && entry?.reach.kind === "stdio";
    return this.#byServer.get(id) ?? this.#ofAll ?? entry?.roots ?? (isProgram ? this.#ofOthers : undefined);
  }

  /** Without a server: of all, also of those that had their own. */
  set(roots: readonly (string | Root)[], server: string | undefined): void {
    const written = roots.map((root) => this.#toRoot(root));
    if (server !== undefined) {
      this.#byServer.set(server, written);
      return;
    }
    this.#byServer.clear();
    this.#ofAll = written;
  }

  #toRoot(root: string | Root): Root {
    if (typeof root !== "string") return root;
    return { uri: root.startsWith("file:") ? root : pathToFileURL(resolve(this.#cwd ?? "", root)).href };
  }
}
