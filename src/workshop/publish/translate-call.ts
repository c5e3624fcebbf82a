import type { CompiledApi } from "../compile/compile.ts";
import type { SettingValues } from "../run/setting-values.ts";
import { CallMeanings, givesSameResults } from "./call-meaning.ts";

/** A version that callers may have seen. */
export interface SeenVersion {
  api: CompiledApi;
  /** A version that is retired makes no more calls, but still tells what its callers mean. */
  isPublished: boolean;
}

export interface VersionsOfCall {
  /** The version that is served now. */
  current: CompiledApi;
  /** All that were published, the oldest first, with the current one. */
  versions: readonly SeenVersion[];
  /** The version whose tools the caller was shown last; undefined if that is not known. */
  seen?: CompiledApi | undefined;
}

/** The version that makes the call, or why none does. */
export type Translation = { kind: "run"; by: CompiledApi } | { kind: "refused"; message: string };

interface NamedCall {
  tool: string;
  arguments: unknown;
}

/**
 * Decides which version makes a call that may have been written for an earlier one, so that it sends what its caller
 * means or nothing at all. Clients keep lists of tools, some until a person refreshes them.
 */
export class CallTranslation {
  readonly #settings: SettingValues;
  readonly #meanings = new WeakMap<CompiledApi, CallMeanings>();

  constructor(settings: SettingValues = {}) {
    this.#settings = settings;
  }

  /** `at`: the time of the call. */
  of(call: NamedCall, { current, versions, seen }: VersionsOfCall, at: number): Translation {
    if (seen === current) return { kind: "run", by: current };
    return seen ? this.#known(call, { current, versions, seen }, at) : this.#unknown(call, { current, versions }, at);
  }

  /** It means what it means in the version that the caller saw. */
  #known(
    call: NamedCall,
    { current, versions, seen }: VersionsOfCall & { seen: CompiledApi },
    at: number,
  ): Translation {
    const isPublished = versions.some(({ api, isPublished: is }) => is && api === seen);
    const meant = this.#meaning(seen, call, at);
    // The version that it was written for says what is wrong with it.
    if (meant === undefined) return isPublished ? { kind: "run", by: seen } : refused(current, call);
    const isSame = this.#meaning(current, call, at) === meant;
    if (isSame && (!isPublished || givesSameResults(seen, current, call.tool))) return { kind: "run", by: current };
    return isPublished ? { kind: "run", by: seen } : refused(current, call);
  }

  /** All versions that accept it must mean the same by it. */
  #unknown(call: NamedCall, { current, versions }: VersionsOfCall, at: number): Translation {
    const accepting = versions.flatMap(({ api, isPublished }) => {
      const meaning = this.#meaning(api, call, at);
      return meaning === undefined ? [] : [{ api, isPublished, meaning }];
    });
    // Nobody accepts it: the current version says why.
    if (accepting.length === 0) return { kind: "run", by: current };
    const isOne = new Set(accepting.map(({ meaning }) => meaning)).size === 1;
    const published = accepting.filter(({ isPublished }) => isPublished).map(({ api }) => api);
    const by = published.includes(current) ? current : published.at(-1);
    return isOne && by ? { kind: "run", by } : refused(current, call);
  }

  #meaning(api: CompiledApi, { tool, arguments: args }: NamedCall, at: number): string | undefined {
    let meanings = this.#meanings.get(api);
    if (!meanings) this.#meanings.set(api, (meanings = new CallMeanings(api, this.#settings)));
    return meanings.of(tool, args, at);
  }
}

function refused(current: CompiledApi, { tool }: NamedCall): Translation {
  return { kind: "refused", message: refreshMessage(current, tool) };
}

/** For a client that has to read the list of tools again. */
export function refreshMessage({ file }: CompiledApi, tool: string): string {
  return (
    `Nothing was sent: the tools of ${file.title} have changed since your client read them, and this call of ${tool} ` +
    "would not mean the same now. Refresh the list of tools (tools/list; in ChatGPT: refresh the connector), then call again."
  );
}
