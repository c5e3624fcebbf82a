import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside, realPath } from "../../files/paths.ts";
import type { ConfigContext } from "../read/places.ts";
import { fingerprintOf, type TrustStore } from "./trust-store.ts";

/**
 * Folders that somebody else may have filled: the working folder, and those above it that belong to the same project. What is
 * read from there by a user's own entry could name code to run, as much as an entry of the project could.
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

  /** A configuration file was found in the folder. */
  add(folder: string, isTrusted: boolean): void {
    const path = realPath(folder);
    this.#known.set(path, (this.#known.get(path) ?? true) && isTrusted);
  }

  /** Whether a text may be used that was read from a path which depends on where Nexus is started. */
  async mayUse(path: string, text: string): Promise<boolean> {
    const real = realPath(path);
    const folder = this.#projectAround(real);
    if (folder === undefined || this.#known.get(folder) === true) return true;
    return this.#trust.isTrusted(real, fingerprintOf(text));
  }

  /**
   * The working folder if the user trusts it: if the configuration files in it are all trusted. Below such a folder, that
   * folder, where the project's own servers run as well; not from inside another repository. With `--trust` any folder.
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
      // The home folder, and what is above it, is no project, whatever stands in it.
      if (isInside(this.#home, folder)) return undefined;
      const isProject = folder === this.#cwd || this.#known.has(folder) || existsSync(join(folder, ".git"));
      if (isProject && isInside(path, folder)) return folder;
      if (dirname(folder) === folder) return undefined;
    }
  }
}
