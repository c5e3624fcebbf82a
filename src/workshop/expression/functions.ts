/** How a function is called. An `each` argument is evaluated for every item. */
interface Signature {
  min: number;
  max: number;
  each?: boolean;
  /** Where it is available, if not everywhere. */
  from?: readonly Provider[];
  /** Whether its only argument is the literal name of a time zone. */
  zone?: boolean;
}

/** What evaluates an expression: the request, a rule, or the fake. */
export type Provider = "runner" | "rule" | "fake";

export const FUNCTIONS: Readonly<Record<string, Signature>> = {
  count: { min: 1, max: 2, each: true },
  sum: { min: 1, max: 2, each: true },
  first: { min: 1, max: 2, each: true },
  days: { min: 2, max: 2 },
  round: { min: 1, max: 2 },
  min: { min: 1, max: 20 },
  max: { min: 1, max: 20 },
  join: { min: 1, max: 2 },
  contains: { min: 2, max: 2 },
  lower: { min: 1, max: 1 },
  upper: { min: 1, max: 1 },
  if: { min: 2, max: 3 },
  now: { min: 0, max: 1, from: ["runner", "rule"], zone: true },
  today: { min: 0, max: 1, from: ["runner", "rule"], zone: true },
  request_key: { min: 0, max: 0, from: ["runner"] },
  seen: { min: 1, max: 1, from: ["fake"] },
};

/** For each evaluation: a text that was cut out of a file is found sooner in a map than among members. */
const SIGNATURES: ReadonlyMap<string, Signature> = new Map(Object.entries(FUNCTIONS));

export function signatureOf(name: string): Signature | undefined {
  return SIGNATURES.get(name);
}
