import { isDeepStrictEqual } from "node:util";
import type { QuestionChoice, QuestionSpec } from "../file/model/tool-file.ts";
import { joinFirst } from "../../text/shorten.ts";

const MOST_EVIDENCE = 5;

/** An answer, and the values that it sets: by their keys below the place of the question, `""` for the place itself. */
interface PlaceChoice {
  answer: string;
  set: Record<string, unknown>;
}

interface AskedGroup {
  places: Set<string>;
  evidence: Set<string>;
  choices: readonly PlaceChoice[];
}

/** Collects what was decided without the document. The same question about many places is one question. */
export class QuestionList {
  readonly #asked = new Map<string, AskedGroup>();

  /** `ask` must not name the place; `about` does. `choices`: what the answers set, below the place. The first is usual. */
  add(ask: string, about: string, evidence?: string, choices: readonly PlaceChoice[] = []): void {
    const group = this.#asked.get(ask) ?? { places: new Set(), evidence: new Set(), choices };
    this.#asked.set(ask, group);
    group.places.add(about);
    if (!isDeepStrictEqual(group.choices, choices)) group.choices = [];
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
    return [...this.#asked].flatMap(([ask, { places, evidence, choices }]) => {
      const about = [...places].filter(exists);
      const [first, ...more] = about;
      if (first === undefined) return [];
      const others = more.length === 0 ? "" : ` (${about.length} places, also ${joinFirst(more, 2)})`;
      const known = choicesAt(about, choices);
      return [
        {
          about: first,
          ask: `${ask}${others}`,
          evidence: [...evidence],
          ...(known.length === 0 ? {} : { choices: known }),
        },
      ];
    });
  }
}

/** The choices with whole paths, for all places of a question. */
function choicesAt(places: readonly string[], choices: readonly PlaceChoice[]): QuestionChoice[] {
  return choices.map(({ answer, set }, index) => ({
    answer,
    ...(index === 0 ? { default: true } : {}),
    set: places.flatMap((place) =>
      Object.entries(set).map(([key, value]) => ({ path: key === "" ? place : `${place}.${key}`, value })),
    ),
  }));
}
