/** The steps of a place in a tool file: `tools.find.input.fields[0]`. */
export function stepsOf(place: string): (string | number)[] {
  return place
    .split(/[.[]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+\]$/.test(step) ? Number.parseInt(step, 10) : step));
}
