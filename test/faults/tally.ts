import type { RunReport } from "./fault-run.ts";
import type { Ending } from "./verdict.ts";

/** How often steps ended in which way, by what had struck in their run. */
export class Tally {
  readonly #rows = new Map<string, Map<Ending, number>>();

  add({ endings, struck }: RunReport): void {
    const kinds = new Set(struck.map(({ kind }) => kind));
    for (const name of kinds.size > 0 ? kinds : ["nothing"]) {
      const row = this.#rows.get(name) ?? new Map<Ending, number>();
      this.#rows.set(name, row);
      for (const ending of endings) row.set(ending, (row.get(ending) ?? 0) + 1);
    }
  }

  /** One line for each fault. */
  toString(): string {
    const lines = [...this.#rows]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([fault, endings]) => {
        const counts = [...endings].sort(([, a], [, b]) => b - a).map(([ending, count]) => `${ending} ${count}`);
        return `${fault.padEnd(16)} ${counts.join(", ")}`;
      });
    return lines.join("\n");
  }
}
