import { PLACE, placesIn, type PathPlace } from "../../file/model/path-template.ts";
import { unsuitable } from "./address.ts";
import { percentEncoded } from "./form-text.ts";
import { divisible, textOf } from "./pair-styles.ts";
import type { ParameterTree } from "./parameter-tree.ts";

/**
 * Fills values into `museums/{id}`, as RFC 6570 expands them. A value stays within its segment; slashes are refused
 * although they could be encoded, because servers disagree about encoded ones.
 */
export function fillPath(template: string, treeOf: (field: string) => ParameterTree | undefined): string {
  const places = placesIn(template);
  let at = 0;
  const filled = template.replace(PLACE, () => {
    const place = places[at++];
    return place ? expanded(place, treeOf(place.field)) : "";
  });
  // A label could make a step of dots, together with the text around it.
  if (/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(filled)) {
    throw unsuitable(places.map(({ field }) => field).join(", "), "must not make a step of dots in the address");
  }
  return filled;
}

function expanded(place: PathPlace, tree: ParameterTree | undefined): string {
  const { field, operator, explode } = place;
  const texts = tree === undefined ? [] : textsIn(tree, field);
  for (const text of texts) checkText(text, field);
  const isEmpty =
    tree === undefined || texts.length === 0 || (operator === "" && texts.length === 1 && texts[0] === "");
  if (isEmpty) throw unsuitable(field, "is missing, and the address needs it");
  if (operator === "" && (tree === "." || tree === "..")) throw unsuitable(field, `must not be "${tree}"`);
  if (operator === ";") divisible(texts, ";", field);
  if (typeof tree === "string") return prefixed(place, percentEncoded(tree, field));
  divisible(texts, ",", field);
  if (explode && operator === ".") divisible(texts, ".", field);
  const encoded = (each: ParameterTree) => percentEncoded(textOf(each, field), field);
  if (Array.isArray(tree)) {
    const items = tree.map(encoded);
    if (!explode || operator === "") return prefixed(place, items.join(","));
    return items.map((item) => prefixed(place, item)).join("");
  }
  const members = tree.members.map(([name, value]) => [percentEncoded(name, field), encoded(value)] as const);
  if (!explode) return prefixed(place, members.flat().join(","));
  const pairs = members.map((member) => member.join("="));
  return operator === "" ? pairs.join(",") : pairs.map((pair) => `${operator}${pair}`).join("");
}

/** With the operator, and for `;` the name; an empty value has no equals sign there. */
function prefixed({ operator, field }: PathPlace, text: string): string {
  if (operator !== ";") return operator + text;
  return text === "" ? `;${field}` : `;${field}=${text}`;
}

function textsIn(tree: ParameterTree, field: string): string[] {
  if (typeof tree === "string") return [tree];
  if (Array.isArray(tree)) return tree.map((item) => textOf(item, field));
  return tree.members.flatMap(([name, value]) => {
    divisible([name], "=", field);
    return [name, textOf(value, field)];
  });
}

function checkText(text: string, field: string): void {
  // oxlint-disable-next-line no-control-regex
  if (!/[/\\\u0000-\u001f\u007f]/.test(text)) return;
  throw unsuitable(field, "must not contain slashes or control characters: it is a part of the address");
}
