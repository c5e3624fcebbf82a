/** A place in the arguments; undefined for the whole. Its text is made only for problems, because most values have none. */
export type ValuePlace = { above: ValuePlace; step: string | number } | undefined;

/** `rooms[0].childAges[1]`; empty for the whole. */
export function pathOf(place: ValuePlace): string {
  if (!place) return "";
  const above = pathOf(place.above);
  if (typeof place.step === "number") return `${above}[${place.step}]`;
  return above === "" ? place.step : `${above}.${place.step}`;
}
