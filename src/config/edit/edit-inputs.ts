import type { ServerEntry } from "../../transport/server-entry.ts";
import type { InputDefinition } from "../read/find-servers.ts";

interface Asking {
  entry: ServerEntry;
  inputs?: readonly InputDefinition[] | undefined;
}

/**
 * An entry and its inputs for a file that already has inputs. Two programs may use the same id for different inputs:
 * the answer to one, perhaps a token, must not go to the other's server.
 */
export function besideKnownInputs<T extends Asking>(asking: T, known: readonly InputDefinition[]): T {
  const { inputs = [] } = asking;
  const names = new Map<string, string>();
  const taken = new Map([...known, ...inputs].map((input) => [input.id, input]));
  for (const input of inputs) {
    const same = known.find(({ id }) => id === input.id);
    if (!same || asksTheSame(same, input)) continue;
    let number = 2;
    for (let other; (other = taken.get(`${input.id}-${number}`)) && !asksTheSame(other, input);) number++;
    names.set(input.id, `${input.id}-${number}`);
    taken.set(`${input.id}-${number}`, input);
  }
  if (names.size === 0) return asking;
  return {
    ...asking,
    entry: renamed(asking.entry, names) as ServerEntry,
    inputs: inputs.map((input) => ({ ...input, id: names.get(input.id) ?? input.id })),
  };
}

function asksTheSame(one: InputDefinition, other: InputDefinition): boolean {
  return one.description === other.description && one.password === other.password && one.default === other.default;
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") {
    return value.replaceAll(/(?<=\$\{input:)[\w.-]+?(?=\}|:-)/g, (id) => names.get(id) ?? id);
  }
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== "object" || value === null || value instanceof URL) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, renamed(item, names)]));
}
