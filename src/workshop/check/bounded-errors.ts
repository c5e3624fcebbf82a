import { _, Name, type Ajv2020 } from "ajv/dist/2020.js";

/** Keywords whose number of errors depends on the value; that of all others depends on the schema. */
const REPEATING = [
  "items",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
];

/** The validator's counter in the functions that it generates. */
const ERRORS = new Name("errors");

/**
 * Makes a validator with `allErrors` stop repeating a check once there are `most` errors. What it then says about validity
 * is meaningless: an alternative that was not checked to its end counts as valid.
 */
export function boundErrors(ajv: Ajv2020, most: number): void {
  for (const keyword of REPEATING) {
    const definition = ajv.getKeyword(keyword);
    if (typeof definition !== "object" || !("code" in definition)) continue;
    const { code } = definition;
    // Changed in place, because a keyword that is added again is checked after the others, and errors keep that order.
    definition.code = (context, rule) => {
      const { gen } = context;
      const own = { forRange: gen.forRange.bind(gen), forIn: gen.forIn.bind(gen) };
      const bounded =
        <Item>(body: (item: Item) => void) =>
        (item: Item) => {
          body(item);
          gen.if(_`${ERRORS} >= ${most}`, () => gen.break());
        };
      gen.forRange = (name, from, to, body, kind) => own.forRange(name, from, to, bounded(body), kind);
      gen.forIn = (name, object, body, kind) => own.forIn(name, object, bounded(body), kind);
      try {
        code(context, rule);
      } finally {
        Object.assign(gen, own);
      }
    };
  }
}
