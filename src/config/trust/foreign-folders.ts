import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside, realPath } from "../../files/paths.ts";
import type { ConfigContext } from "../read/places.ts";
import { fingerprintOf, type TrustStore } from "./trust-store.ts";

/**
 * Folders whose content may come from others: the working folder and those above it in the same project. A file in them
 * that a user's own entry reads could name code to run, just like an entry of the project.
 */
export class ForeignFolders {
  readonly #cwd: string;
  readonly #home: string;
  readonly #trust: TrustStore;
  /** Real paths of folders with configuration, and whether all of it is trusted. */
  readonly #known = new Map<string, boolean>();

  constructor({ cwd, home, trust }: Pick<ConfigContext, "cwd" | "home"> & { trust: TrustStore }) {
    this.#cwd = realPath(cwd);
    this.#home = realPath(home);
    this.#trust = trust;
  }

  /** Call this for a configuration file that was found in the folder. */
  add(folder: string, isTrusted: boolean): void {
    const path = realPath(folder);
    this.#known.set(path, (this.#known.get(path) ?? true) && isTrusted);
  }

  /** Whether a text may be used whose path depends on where Nexus is started. */
  async mayUse(path: string, text: string): Promise<boolean> {
    const real = realPath(path);
    const folder = this.#projectAround(real);
    if (folder === undefined || this.#known.get(folder) === true) return true;
    return this.#trust.isTrusted(real, fingerprintOf(text));
  }

  /**
   * The working folder if the user trusts it, that is, if all its configuration files are trusted. Below such a folder,
   * that folder, in which the project's own servers also run; not from inside another repository. With `--trust`, any
   * folder.
   */
  findTrusted(): string | undefined {
    if (this.#trust.trustsFolders) return this.#cwd;
    for (let folder = this.#cwd; !isInside(this.#home, folder); folder = dirname(folder)) {
      const isTrusted = this.#known.get(folder);
      if (isTrusted !== undefined) return isTrusted ? folder : undefined;
      if (existsSync(join(folder, ".git")) || dirname(folder) === folder) return undefined;
    }
    return undefined;
  }

  #projectAround(path: string): string | undefined {
    for (let folder = this.#cwd; ; folder = dirname(folder)) {
      // The home folder and the folders above it are never a project.
      if (isInside(this.#home, folder)) return undefined;
      const isProject = folder === this.#cwd || this.#known.has(folder) || existsSync(join(folder, ".git"));
      if (isProject && isInside(path, folder)) return folder;
      if (dirname(folder) === folder) return undefined;
    }
  }
}
