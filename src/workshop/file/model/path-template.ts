/** A place of a path template: `{id}`, `{.id}`, `{;id*}`. */
export interface PathPlace {
  field: string;
  /** As in RFC 6570: a label, a matrix parameter, or neither. */
  operator: "" | "." | ";";
  explode: boolean;
}

/** A place with its operator, field and star. */
export const PLACE = /\{([.;]?)([^{}*]+)(\*?)\}/g;

/** The places of a path, in order. */
export function placesIn(path: string): PathPlace[] {
  return [...path.matchAll(PLACE)].map(([, operator, field = "", star]) => ({
    field,
    operator: operator === "." || operator === ";" ? operator : "",
    explode: star === "*",
  }));
}
