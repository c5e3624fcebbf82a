import type { OperationFacts, SecuritySchemeFacts } from "../../api-facts.ts";

/** There is one Authorization header: several schemes for it are alternatives. */
export function alternatives(
  needed: readonly { scheme: string; scopes: string[] }[],
  security: Readonly<Record<string, SecuritySchemeFacts>>,
): OperationFacts["security"] {
  const isHeader = ({ scheme }: { scheme: string }) => security[scheme]?.kind !== "apiKey";
  // A sentence and a sample may state the same scheme.
  const each = [...new Map(needed.map((one) => [one.scheme, one])).values()];
  const headers = each.filter(isHeader);
  const others = each.filter((one) => !isHeader(one));
  if (headers.length < 2) return each.length === 0 ? [] : [each];
  return headers.map((one) => [one, ...others]);
}

/** The same scheme has one name; another one of the same name gets a number. */
export function schemeName(
  security: Record<string, SecuritySchemeFacts>,
  name: string,
  facts: SecuritySchemeFacts,
): string {
  const same = ({ evidence: _a, description: _b, ...a }: SecuritySchemeFacts) => JSON.stringify(a);
  for (let more = 1; ; more++) {
    const wanted = more === 1 ? name : `${name}${more}`;
    const known = Object.hasOwn(security, wanted) ? security[wanted] : undefined;
    if (!known) security[wanted] = facts;
    if (!known || same(known) === same(facts)) return wanted;
  }
}
