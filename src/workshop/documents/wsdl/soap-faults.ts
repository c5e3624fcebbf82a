import type { ErrorFacts, Evidence, SchemaFacts } from "../api-facts.ts";
import type { SoapVersion } from "./definitions.ts";
import { plainFacts } from "./xsd/schema-facts.ts";

type Steps = NonNullable<NonNullable<SchemaFacts["xml"]>["within"]>;

/** A fault that the description declares: the element in its detail. */
export interface DeclaredFault {
  name: string;
  description?: string | undefined;
  element: { name: string; namespace: string };
  facts: SchemaFacts | undefined;
  evidence: Evidence;
}

/** The members of an answer that say why it failed, and the failures of the tool. */
export interface FaultFacts {
  properties: Map<string, () => SchemaFacts>;
  errors: ErrorFacts[];
}

const MOST_DETAILS = 4;

export function faultFacts(
  version: SoapVersion,
  faults: readonly DeclaredFault[],
  { taken, evidence }: { taken: ReadonlySet<string>; evidence: Evidence },
): FaultFacts {
  const within: Steps = [{ name: "Body" }, { name: "Fault" }];
  const isOld = version === "1.1";
  // SOAP 1.1, section 4.4: the elements inside of a fault have no namespace.
  const own = (name: string): Steps[number] => (isOld ? { name, namespace: "" } : { name });
  const code = freeName("faultCode", taken);
  const text = freeName("faultString", taken);
  const properties = new Map<string, () => SchemaFacts>();
  const texts = (steps: Steps, name: string) => () =>
    hidden(textFacts(evidence, steps, isOld ? { name, namespace: "" } : { name }));
  properties.set(code, isOld ? texts(within, "faultcode") : texts([...within, own("Code")], "Value"));
  if (isOld) properties.set(text, texts(within, "faultstring"));
  else {
    const reasons = texts([...within, own("Reason")], "Text");
    properties.set(text, () => {
      const { xml } = reasons();
      return hidden({
        ...plainFacts(evidence),
        // The list and its texts are at the same place.
        identity: `texts of the fault at ${evidence}`,
        types: ["array"],
        items: () => textFacts(evidence, [], { name: "Text" }),
        ...(xml ? { xml } : {}),
      });
    });
  }
  const said = isOld ? `{${text}}` : `{first(${text})}`;
  const errors: ErrorFacts[] = [];
  const detail = [...within, own(isOld ? "detail" : "Detail")];
  for (const fault of faults) {
    const key = freeName(
      `fault${fault.name.charAt(0).toUpperCase()}${fault.name.slice(1).replaceAll(/[^A-Za-z0-9_]/g, "")}`,
      new Set([...taken, ...properties.keys()]),
    );
    const { facts } = fault;
    const xml = {
      name: fault.element.name,
      namespace: fault.element.namespace,
      attribute: false,
      wrapped: false,
      within: detail,
    };
    properties.set(key, () => {
      const element = facts ?? { ...plainFacts(fault.evidence), types: ["string" as const] };
      return hidden({
        ...element,
        nullable: false,
        xml: { ...element.xml, ...xml, wrapped: element.xml?.wrapped ?? false },
      });
    });
    const details = facts ? detailsOf(facts, key) : "";
    const title =
      fault.description
        ?.split("\n", 1)[0]
        ?.slice(0, 160)
        .replaceAll(/[{}]/g, "")
        .replace(/[.\s]+$/, "") ?? fault.name;
    errors.push({ that: `${key} != null`, say: `${title}: ${said}${details}`, evidence: fault.evidence });
  }
  errors.push({ that: `${code} != null`, say: `The service reports a fault ({${code}}): ${said}`, evidence });
  return { properties, errors };
}

/** The single values of a declared detail, as ` (code 7, field name)`. */
function detailsOf(facts: SchemaFacts, key: string): string {
  const [type] = facts.allOf.length === 1 ? facts.allOf.map((read) => read()) : [facts];
  if (!type || type.properties.size === 0) return "";
  const shown: string[] = [];
  for (const [member, read] of type.properties) {
    const { types, allOf, xml } = read();
    if (shown.length === MOST_DETAILS) break;
    const isSingle = allOf.length === 0 && types.length === 1 && types[0] !== "object" && types[0] !== "array";
    if (isSingle && !xml?.presence && /^[A-Za-z][A-Za-z0-9_]*$/.test(member))
      shown.push(`${member} {${key}.${member}}`);
  }
  return shown.length === 0 ? "" : ` (${shown.join(", ")})`;
}

function textFacts(evidence: Evidence, within: Steps, step: Steps[number]): SchemaFacts {
  return { ...plainFacts(evidence), types: ["string"], xml: { ...step, attribute: false, wrapped: false, within } };
}

/** Read for errors, and not shown. */
function hidden(facts: SchemaFacts): SchemaFacts {
  return { ...facts, hidden: true };
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let more = 1; ; more++) {
    const name = more === 1 ? wanted : `${wanted}${more}`;
    if (!taken.has(name)) return name;
  }
}
