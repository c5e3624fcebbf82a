import type { QuestionSpec } from "../file/model/tool-file.ts";
import { joinFirst } from "../../text/shorten.ts";

const MOST_EVIDENCE = 5;

/** Collects what was decided without the document. The same question about many places is one question. */
export class QuestionList {
  readonly #asked = new Map<string, { places: Set<string>; evidence: Set<string> }>();

  /** `ask` must not name the place; `about` does. */
  add(ask: string, about: string, evidence?: string): void {
    const group = this.#asked.get(ask) ?? { places: new Set(), evidence: new Set() };
    this.#asked.set(ask, group);
    group.places.add(about);
    if (evidence !== undefined && group.evidence.size < MOST_EVIDENCE) group.evidence.add(evidence);
  }

  /** Says that what was asked about one place is about another one. */
  move(from: string, to: string): void {
    for (const { places } of this.#asked.values()) {
      const moved = [...places].filter((place) => place === from || place.startsWith(`${from}.`));
      for (const place of moved) {
        places.delete(place);
        places.add(to + place.slice(from.length));
      }
    }
  }

  /** `exists`: whether a place is still in the file. */
  list(exists: (about: string) => boolean): QuestionSpec[] {
    return [...this.#asked].flatMap(([ask, { places, evidence }]) => {
      const about = [...places].filter(exists);
      const [first, ...more] = about;
      if (first === undefined) return [];
      const others = more.length === 0 ? "" : ` (${about.length} places, also ${joinFirst(more, 2)})`;
      return [{ about: first, ask: `${ask}${others}`, evidence: [...evidence] }];
    });
  }
}
