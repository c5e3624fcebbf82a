import { nearestName } from "../../../text/nearest-name.ts";
import { isTimeZone } from "../../expression/clock.ts";
import { isSpread, type Expression } from "../../expression/expression.ts";
import { signatureOf, type Provider } from "../../expression/functions.ts";
import { ANYTHING, SINGLE, type KnownValue } from "./known-value.ts";
import { oneOf } from "../../../format/part.ts";

/** At most this many names are listed in a hint. */
const MAX_LISTED = 100;

/** A part of an expression that has no meaning in its place. */
interface Misnomer {
  message: string;
  hint?: string;
}

export interface ExpressionPlace {
  scope: KnownValue;
  /** What evaluates it, which decides the available functions. */
  by?: Provider;
}

/** Unknown names and unavailable functions in an expression. */
export function judgeExpression(expression: Expression, place: ExpressionPlace): Misnomer[] {
  const judge = new Judge(place);
  judge.valueOf(expression, []);
  return judge.found;
}

/** What is known about the value of an expression. */
export function knownResult(expression: Expression, place: ExpressionPlace): KnownValue {
  return new Judge(place).valueOf(expression, []);
}

class Judge {
  readonly found: Misnomer[] = [];
  readonly #place: ExpressionPlace;

  constructor(place: ExpressionPlace) {
    this.#place = place;
  }

  /** `items`: the items of conditions, innermost first. */
  valueOf(expression: Expression, items: readonly KnownValue[]): KnownValue {
    switch (expression.kind) {
      case "literal":
        return typeof expression.value === "string" ? { kind: "single", names: [expression.value] } : SINGLE;
      case "name":
        return this.#named(expression.name, items);
      case "member":
        return this.#member(expression, items);
      case "item":
        return this.#itemsOf(expression.of, items, "[…]");
      case "spread":
        return { kind: "list", of: this.#itemsOf(expression.of, items, "[]") };
      case "not":
      case "minus":
        this.valueOf(expression.of, items);
        return SINGLE;
      case "call":
        return this.#call(expression, items);
      case "binary": {
        const [left, right] = [this.valueOf(expression.left, items), this.valueOf(expression.right, items)];
        if (expression.operator === "==" || expression.operator === "!=") this.#compare(expression, left, right);
        return SINGLE;
      }
    }
  }

  #named(name: string, items: readonly KnownValue[]): KnownValue {
    for (const holder of [...items, this.#place.scope]) {
      if (holder.kind === "anything") return ANYTHING;
      const member = holder.kind === "object" ? holder.members.get(name) : undefined;
      if (member) return member();
    }
    if (name === "item" && items[0]) return items[0];
    const known = [...items, this.#place.scope].flatMap((holder) =>
      holder.kind === "object" ? [...holder.members.keys()] : [],
    );
    this.#unknown(`there is no "${name}" here`, name, known);
    return ANYTHING;
  }

  #member({ of, name }: Extract<Expression, { kind: "member" }>, items: readonly KnownValue[]): KnownValue {
    const value = this.valueOf(of, items);
    const spread = isSpread(of);
    const holder = spread && value.kind === "list" ? value.of : value;
    const member = memberOf(holder, name);
    if (!member && holder.kind === "object")
      this.#unknown(`there is no "${name}" in it`, name, [...holder.members.keys()]);
    if (holder.kind === "list") {
      this.#add(
        `the list has no "${name}", its items have`,
        `Write […][].${name} for all items, or [0].${name} for the first.`,
      );
    }
    if (holder.kind === "single") this.#add(`a single value has no "${name}"`);
    if (!spread) return member ?? ANYTHING;
    // The lists of all items become one.
    return member?.kind === "list" ? member : { kind: "list", of: member ?? ANYTHING };
  }

  #itemsOf(of: Expression, items: readonly KnownValue[], sign: string): KnownValue {
    const value = this.valueOf(of, items);
    if (value.kind === "list") return value.of;
    if (value.kind !== "anything") this.#add(`${sign} follows something that is not a list`);
    return ANYTHING;
  }

  #call({ name, given }: Extract<Expression, { kind: "call" }>, items: readonly KnownValue[]): KnownValue {
    const signature = signatureOf(name);
    const { by } = this.#place;
    if (signature?.from && !(by !== undefined && signature.from.includes(by)))
      this.#add(`${name}() is not available here`);
    if (signature?.zone) this.#zone(name, given[0]);
    const [list, each] = given;
    if (!signature?.each || !list) {
      for (const argument of given) this.valueOf(argument, items);
      return SINGLE;
    }
    const value = this.valueOf(list, items);
    if (value.kind === "single" || value.kind === "object") this.#add(`${name}() needs a list`);
    const item = value.kind === "list" ? value.of : ANYTHING;
    if (each) this.valueOf(each, [item, ...items]);
    return name === "first" ? item : SINGLE;
  }

  #zone(name: string, given: Expression | undefined): void {
    if (!given) return;
    const zone = given.kind === "literal" ? given.value : undefined;
    if (typeof zone === "string" && isTimeZone(zone)) return;
    const what =
      typeof zone === "string" ? `there is no time zone "${zone}"` : `${name}() takes the name of a time zone`;
    this.#add(what, `Write one of the IANA database: ${name}("Europe/Vienna"). Without one it is UTC.`);
  }

  /** Comparing with a value that can never occur is probably a typing error. */
  #compare({ left, right }: Extract<Expression, { kind: "binary" }>, a: KnownValue, b: KnownValue): void {
    const [word, other] = left.kind === "literal" ? [left.value, b] : right.kind === "literal" ? [right.value, a] : [];
    if (typeof word !== "string" || other?.kind !== "single" || !other.names || other.names.includes(word)) return;
    const meant = nearestName(word, other.names);
    this.#add(`"${word}" is never equal to it`, meant ? `Did you mean "${meant}"?` : listed("It can be", other.names));
  }

  #unknown(message: string, name: string, known: readonly string[]): void {
    const meant = nearestName(name, known);
    this.#add(message, meant ? `Did you mean "${meant}"?` : listed("There is", known));
  }

  #add(message: string, hint?: string): void {
    this.found.push({ message, ...(hint === undefined ? {} : { hint }) });
  }
}

function listed(begin: string, names: readonly string[]): string | undefined {
  return names.length > 0 && names.length <= MAX_LISTED ? `${begin} ${oneOf(names)}.` : undefined;
}

function memberOf(value: KnownValue, name: string): KnownValue | undefined {
  if (value.kind === "anything") return ANYTHING;
  return value.kind === "object" ? value.members.get(name)?.() : undefined;
}
