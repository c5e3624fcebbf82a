import { NexusError } from "../../../errors/nexus-error.ts";

/** One step of a path from an element to a value: an element, an attribute, or the element's own text. */
export interface WireStep {
  /** Empty for the element's own text. */
  name: string;
  /** A prefix of the file's `namespaces`. */
  prefix?: string;
  /** Attributes that distinguish an element from its siblings. */
  predicates: WirePredicate[];
  /** Whether there is one element for each item of the list. */
  repeats: boolean;
  attribute?: boolean;
  text?: boolean;
}

interface WirePredicate {
  attribute: string;
  prefix?: string;
  value: string;
}

const NAME = String.raw`(?:([\p{L}_][\p{L}\p{N}._-]*):)?([\p{L}_][\p{L}\p{N}._-]*)`;
const STEP = new RegExp(`(@?)${NAME}`, "uy");
const PREDICATE = new RegExp(String.raw`\[@${NAME}=(?:'([^']*)'|"([^"]*)"|([^\]'"]*))\]`, "uy");

/** Parses `RoomStays/RoomStay[@Code=8]/Guest[]/@Age`, or `.`; errors are CONFIG_INVALID with the column. */
export function parseWirePath(text: string): WireStep[] {
  if (text === ".") return [{ name: "", predicates: [], repeats: false, text: true }];
  const steps: WireStep[] = [];
  let at = 0;
  for (;;) {
    const { step, end } = stepAt(text, at);
    steps.push(step);
    if (end === text.length) break;
    if (text[end] !== "/") throw mistake(text, end, `${JSON.stringify(text[end])} is not expected`);
    if (step.attribute) throw mistake(text, end, "nothing is inside of an attribute");
    at = end + 1;
  }
  if (steps.filter(({ repeats }) => repeats).length > 1) {
    throw mistake(
      text,
      text.lastIndexOf("[]"),
      "only one step of a path can repeat",
      "Give the inner list a type of its own.",
    );
  }
  return steps;
}

function stepAt(text: string, start: number): { step: WireStep; end: number } {
  STEP.lastIndex = start;
  const [whole, at, prefix, name] = STEP.exec(text) ?? [];
  if (whole === undefined || name === undefined)
    throw mistake(text, start, "the name of an element or @attribute is missing");
  const step: WireStep = { name, predicates: [], repeats: false };
  if (prefix !== undefined) step.prefix = prefix;
  if (at === "@") step.attribute = true;
  let end = start + whole.length;
  while (text[end] === "[") {
    if (step.attribute) throw mistake(text, end, "an attribute neither repeats nor has conditions");
    const next = predicateAt(text, end);
    if (next) step.predicates.push(next.predicate);
    else step.repeats = true;
    end = next?.end ?? end + 2;
    if (step.repeats && text[end] === "[") throw mistake(text, end, "[] comes after all conditions");
  }
  return { step, end };
}

/** Undefined for `[]`. */
function predicateAt(text: string, start: number): { predicate: WirePredicate; end: number } | undefined {
  if (text.startsWith("[]", start)) return undefined;
  PREDICATE.lastIndex = start;
  const [whole, prefix, attribute, single, double, bare] = PREDICATE.exec(text) ?? [];
  if (whole === undefined || attribute === undefined) {
    throw mistake(text, start, "between [ and ] write nothing, or a condition like @Code=8");
  }
  const value = single ?? double ?? bare ?? "";
  return { predicate: { attribute, ...(prefix === undefined ? {} : { prefix }), value }, end: start + whole.length };
}

function mistake(text: string, offset: number, what: string, hint?: string): NexusError {
  const message = `The wire path ${JSON.stringify(text)}, column ${offset + 1}: ${what}`;
  return new NexusError("CONFIG_INVALID", message, { hint });
}
