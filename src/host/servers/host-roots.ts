import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "../../protocol/mcp.ts";

/** The roots that a program sets for servers while a host runs; they replace those of the entries. */
export class HostRoots {
  readonly #cwd: string | undefined;
  #ofAll: readonly Root[] | undefined;
  readonly #byServer = new Map<string, readonly Root[]>();

  /** `cwd`: the base of relative paths; default: the working folder. */
  constructor(cwd: string | undefined) {
    this.#cwd = cwd;
  }

  /** Undefined: those of the entry. The same object until other roots are set. */
  of(server: string): readonly Root[] | undefined {
    return this.#byServer.get(server) ?? this.#ofAll;
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
