import { visible } from "../../text/visible.ts";
import type { Output } from "./output.ts";
import { wrapped } from "./text-width.ts";

/** A label and its lines; not shown without lines. */
export type Fact = readonly [label: string, lines: readonly string[]];

/** A title and aligned facts below it. All of it may come from outside. */
export function factLines(out: Pick<Output, "style" | "columns">, title: string, facts: readonly Fact[]): string[] {
  const shown = facts.filter(([, lines]) => lines.length > 0);
  const width = Math.max(...shown.map(([label]) => label.length)) + 1;
  const lines = shown.flatMap(([label, values]) => {
    const room = out.columns === undefined ? undefined : out.columns - width - 4;
    return values
      .flatMap((value) => wrapped(visible(value), room))
      .map((value, index) => {
        const head = (index === 0 ? `${label}:` : "").padEnd(width);
        return `  ${out.style("dim", head)}  ${value}`;
      });
  });
  return [out.style("bold", visible(title)), ...lines];
}
