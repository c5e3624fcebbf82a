import { dirname, join } from "node:path";
import { lockPath } from "../config/read/lock-path.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import { asNexusError, type NexusError } from "../errors/nexus-error.ts";
import { WatchedFiles } from "../files/watched-files.ts";
import { loadApi, requireApproved, type ApprovedApi, type LoadedApi } from "./load-api.ts";
import { isApproved } from "./review/lock.ts";

export interface WatchedToolFileOptions {
  path: string;
  /** What is served now. */
  first: ApprovedApi;
  trust: TrustStore;
  /** Serves what was approved. If it rejects, what was served before is still served. */
  onApproved: (approved: ApprovedApi) => Promise<void>;
  /** Called when the file cannot be served as it is now, and with undefined when it can. */
  onProblem: (problem: NexusError | undefined) => void;
  quietMs?: number | undefined;
}

/** An approval by somebody else becomes this user's own without a change of the files. */
const ACCEPTANCE_POLL_MS = 1_000;

/** Follows a tool file, its lock and its documents: what is approved and accepted is served. */
export class WatchedToolFile implements Disposable {
  readonly #options: WatchedToolFileOptions;
  readonly #files: WatchedFiles;
  #documents: ApprovedApi["file"]["documents"];
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: WatchedToolFileOptions) {
    this.#options = options;
    this.#documents = options.first.file.documents;
    const { quietMs } = options;
    this.#files = new WatchedFiles({ files: () => this.#paths(), quietMs, onChange: () => this.#look() });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#files.close();
  }

  #paths(): string[] {
    const { path } = this.#options;
    const folder = dirname(path);
    return [path, lockPath(path), ...Object.values(this.#documents).map(({ file }) => join(folder, file))];
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#offer(await loadApi(this.#options.path));
    } catch (error) {
      this.#report(asNexusError(error));
    }
  }

  async #offer(loaded: LoadedApi): Promise<void> {
    const { trust, onApproved } = this.#options;
    if (this.#isClosed) return;
    this.#documents = loaded.file?.documents ?? this.#documents;
    try {
      await onApproved(await requireApproved(loaded, { trust }));
      this.#report(undefined);
    } catch (error) {
      this.#report(asNexusError(error));
      const isOthers = loaded.api !== undefined && isApproved(loaded.lock, loaded.api);
      if (isOthers && asNexusError(error).code === "UNTRUSTED") this.#offerLater(loaded);
    }
  }

  #offerLater(loaded: LoadedApi): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#offer(loaded), ACCEPTANCE_POLL_MS).unref();
  }

  /** Once for each problem. */
  #report(error: NexusError | undefined): void {
    if (this.#isClosed || error?.message === this.#problem) return;
    this.#problem = error?.message;
    this.#options.onProblem(error);
  }
}
