/**
 * Whether internal addresses are refused: loopback, private networks, cloud metadata. `allow` lists exceptions. `advice`: what
 * people can do about a refused address, where it is not to add it to `allow`.
 */
export type PublicOnly = boolean | { allow: readonly string[]; advice?: string };

/** Internal addresses are refused, and whoever added the server cannot change that: the advice says who can, and how. */
export function publicOnlyWith(advice: string): PublicOnly {
  return { allow: [], advice };
}

/** Both rules at once: internal addresses are refused unless each of them allows it. Undefined where neither refuses. */
export function strictest(...rules: readonly (PublicOnly | undefined)[]): PublicOnly | undefined {
  const strict = rules.flatMap((rule) => (rule ? [rule === true ? { allow: [] } : rule] : []));
  const [first] = strict;
  if (!first) return undefined;
  const advice = strict.find((rule) => rule.advice !== undefined)?.advice;
  const allow = first.allow.filter((host) => strict.every((rule) => rule.allow.includes(host)));
  return { allow, ...(advice === undefined ? {} : { advice }) };
}
