/** Whether internal addresses are refused: loopback, private networks, cloud metadata. `allow` lists exceptions. */
export type PublicOnly = boolean | { allow: readonly string[] };

/** Both rules at once: internal addresses are refused unless each of them allows it. Undefined where neither refuses. */
export function strictest(...rules: readonly (PublicOnly | undefined)[]): PublicOnly | undefined {
  const lists = rules.flatMap((rule) => (rule ? [rule === true ? [] : rule.allow] : []));
  const [first] = lists;
  if (!first) return undefined;
  return { allow: first.filter((host) => lists.every((list) => list.includes(host))) };
}
