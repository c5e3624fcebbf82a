import { isRecord } from "../../json/is-record.ts";
import { shortName } from "../../text/digest.ts";

const TOOL = /^[A-Za-z0-9_-]{1,64}$/;
/** Names in a form that a pattern accepts, and back. Names that already fit stay as they are. */
export class SafeNames {
  readonly #pattern: RegExp;
  readonly #own = new Map<string, string>();
  readonly #safe = new Map<string, string>();

  constructor(pattern: RegExp = TOOL) {
    this.#pattern = pattern;
  }

  toSafe(name: string): string {
    if (this.#pattern.test(name)) return name;
    const safe = `${name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 55)}_${shortName(name).slice(0, 8)}`;
    this.#own.set(safe, name);
    this.#safe.set(name, safe);
    return safe;
  }

  toOwn(safe: string): string {
    return this.#own.get(safe) ?? safe;
  }

  /** A value with the keys that were made safe before, at any depth. */
  keysToSafe(value: unknown): unknown {
    return withKeys(value, this.#safe);
  }

  /** A value with own keys again, at any depth. */
  keysToOwn(value: unknown): unknown {
    return withKeys(value, this.#own);
  }
}

/** The names of one request, as its provider accepts them. */
export interface ProviderNames {
  tools: SafeNames;
  /** Properties in the schemas of tools. One that is not accepted makes the provider refuse the whole request. */
  properties: SafeNames;
}

function withKeys(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => withKeys(item, names));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [names.get(key) ?? key, withKeys(member, names)]);
  return Object.fromEntries(members) as Record<string, unknown>;
}
