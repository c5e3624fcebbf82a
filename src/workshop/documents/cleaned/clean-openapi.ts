import { isRecord } from "../../../json/is-record.ts";
import { escapePart } from "../../../schema/pointer.ts";
import { isCredentialName } from "../../../text/secret-names.ts";
import { cleanExample, type Places } from "./clean-json.ts";
import { cleanProse, isShownCredential, LEFT_OUT } from "./credential-text.ts";

const MAX_DEPTH = 190;
const EXAMPLES = /^(?:example|examples|x-examples?|default|const)$/;

/**
 * An OpenAPI description without credentials: users in addresses, values of security parameters and of members with the
 * names of secrets, and tokens in examples and texts.
 */
export function cleanOpenApi(value: unknown, places: Places): unknown {
  return cleanNode(value, { places, pointer: "", name: "", key: "", depth: 0 });
}

interface Place {
  places: Places;
  pointer: string;
  /** What the schema around describes: a parameter or a member. */
  name: string;
  key: string;
  depth: number;
  /** Inside of `x-…`, where texts are whatever somebody needed, such as samples of code. */
  isExtension?: boolean;
}

function cleanNode(value: unknown, place: Place): unknown {
  const { places, pointer, key, depth, name } = place;
  const isExtension = place.isExtension === true || key.startsWith("x-");
  if (depth > MAX_DEPTH) return value;
  if (typeof value === "string") return cleanText(value, { ...place, isExtension });
  if (Array.isArray(value)) {
    return value.map((item, index) => cleanNode(item, { ...place, pointer: `${pointer}/${index}`, depth: depth + 1 }));
  }
  if (!isRecord(value)) return value;
  // A parameter has a name and a place; what is inside describes its value.
  const own = typeof value["name"] === "string" && typeof value["in"] === "string" ? value["name"] : name;
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const inside = {
        places,
        pointer: `${pointer}/${escapePart(member)}`,
        name: own,
        key: member,
        depth: depth + 1,
        isExtension,
      };
      // These are the names of members and parts, whatever they are called.
      if (key === "properties" || key === "headers" || key === "variables")
        return [member, cleanNode(inner, { ...inside, name: member, key: "" })];
      if (key === "schemas" || key === "definitions")
        return [member, cleanNode(inner, { ...inside, name: "", key: "" })];
      return [member, EXAMPLES.test(member) ? cleanShown(inner, inside) : cleanNode(inner, inside)];
    }),
  );
}

/** `examples` of OpenAPI 3 are objects with a `value`. */
function cleanShown(value: unknown, { places, pointer, name, key, depth }: Place): unknown {
  if (key === "examples" && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([label, each]) => {
        const at = `${pointer}/${escapePart(label)}`;
        if (!isRecord(each) || !Object.hasOwn(each, "value"))
          return [label, cleanExample(each, at, places, name, depth)];
        return [label, { ...each, value: cleanExample(each["value"], `${at}/value`, places, name, depth) }];
      }),
    );
  }
  return cleanExample(value, pointer, places, name, depth);
}

const PROSE = /^(?:description|summary|title|url|host|basePath)$/;

function cleanText(text: string, { places, pointer, key, name, isExtension = false }: Place): string {
  const isValue = key === "enum" && isCredentialName(name) && isShownCredential("", text);
  const isNamed = isExtension && isShownCredential(key, text);
  const isProse = isExtension || PROSE.test(key);
  const clean = isValue || isNamed ? LEFT_OUT : isProse ? cleanProse(withoutUser(text, key)) : text;
  if (clean !== text || clean.includes(LEFT_OUT)) places.push(pointer);
  return clean;
}

function withoutUser(text: string, key: string): string {
  return key === "url" || key === "host" ? text.replace(/^((?:[a-z][\w+.-]*:)?(?:\/\/)?)[^/?#{}@]*@/i, "$1") : text;
}
