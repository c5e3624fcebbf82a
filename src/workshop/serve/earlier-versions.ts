import { RecentMap } from "../../async/recent-map.ts";
import type { CompiledApi } from "../compile/compile.ts";
import type { SeenVersion } from "../publish/translate-call.ts";
import type { ServedVersion } from "./running-version.ts";

/** A version in the store. */
interface PublishedRef {
  hash: string;
  /** A retired one is known, but makes no calls. */
  isRetired: boolean;
  load: () => Promise<ServedVersion | undefined>;
}

/** All versions of an API, the lowest first. */
export type PublishedVersions = readonly PublishedRef[];

/** Versions that were served before are remembered, so that it is known what their callers mean. */
const MAX_REMEMBERED = 8;

/** The versions of an API beside the current one: what callers may have seen. */
export class EarlierVersions {
  #published: PublishedVersions = [];
  /** By hash: those that were served here, the newest last. */
  readonly #remembered = new RecentMap<string, ServedVersion>({ most: MAX_REMEMBERED });
  /** By hash: those that were read from the store. */
  readonly #loaded = new Map<string, Promise<ServedVersion | undefined>>();
  readonly #counts = new Map<string, number>();

  set published(published: PublishedVersions) {
    this.#published = published;
    for (const hash of this.#loaded.keys()) if (!published.some((ref) => ref.hash === hash)) this.#loaded.delete(hash);
  }

  /** Whether callers can only have seen the current version, as far as is known. */
  get isEmpty(): boolean {
    return this.#published.length <= 1;
  }

  remember(version: ServedVersion): void {
    this.#remembered.set(version.api.hash, version);
  }

  /** Whether a version that is in memory or published may have this tool. */
  has(tool: string): boolean {
    if (this.#published.length > 1) return true;
    return [...this.#remembered.values()].some(({ api }) => Object.hasOwn(api.file.tools, tool));
  }

  /** The content of any version that is known, published or not. */
  async find(hash: string, current: CompiledApi): Promise<CompiledApi | undefined> {
    return hash === current.hash ? current : (await this.#load(hash))?.api;
  }

  /** The same, to be served: only if it is published. */
  load(hash: string): Promise<ServedVersion | undefined> {
    const isPublished = this.#published.some((ref) => ref.hash === hash && !ref.isRetired);
    return isPublished ? this.#load(hash) : Promise.resolve(undefined);
  }

  /** All that callers may have seen, the oldest first, with the current one. */
  async all(current: CompiledApi): Promise<SeenVersion[]> {
    const refs = this.#published.filter(({ hash }) => hash !== current.hash);
    const others = await Promise.all(
      refs.map(async ({ hash, isRetired }) => ({ api: await this.find(hash, current), isPublished: !isRetired })),
    );
    const served = [...this.#remembered.values()].filter(
      ({ api: { hash } }) => hash !== current.hash && !refs.some((ref) => ref.hash === hash),
    );
    return [
      ...served.map(({ api }) => ({ api, isPublished: false })),
      ...others.flatMap(({ api, isPublished }) => (api ? [{ api, isPublished }] : [])),
      { api: current, isPublished: true },
    ];
  }

  count(hash: string, calls: number): void {
    if (calls > 0) this.#counts.set(hash, (this.#counts.get(hash) ?? 0) + calls);
  }

  takeCounts(): Map<string, number> {
    const counts = new Map(this.#counts);
    this.#counts.clear();
    return counts;
  }

  async #load(hash: string): Promise<ServedVersion | undefined> {
    const remembered = this.#remembered.get(hash);
    if (remembered) return remembered;
    const known = this.#loaded.get(hash);
    if (known) return known;
    const ref = this.#published.find((each) => each.hash === hash);
    if (!ref) return undefined;
    const loading = ref.load();
    this.#loaded.set(hash, loading);
    // What could not be read is tried again.
    loading.catch(() => this.#loaded.delete(hash));
    return loading;
  }
}
