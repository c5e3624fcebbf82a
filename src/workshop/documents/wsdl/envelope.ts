import type { Evidence, SchemaFacts } from "../api-facts.ts";
import { childrenOf, keyOf, qnameIn, type QName, type XmlNode } from "./xml-nodes.ts";
import { WSDL, type WsdlDefinitions, type Port, type SoapVersion } from "./definitions.ts";
import { plainFacts, type Members, type XsdFacts } from "./xsd/schema-facts.ts";
import type { SchemaContext, SchemaPart } from "./xsd/schema-set.ts";

/** The namespaces of SOAP messages. */
const ENVELOPES: Readonly<Record<SoapVersion, string>> = {
  "1.1": "http://schemas.xmlsoap.org/soap/envelope/",
  "1.2": "http://www.w3.org/2003/05/soap-envelope",
};

const ENCODINGS: Readonly<Record<SoapVersion, string>> = {
  "1.1": "http://schemas.xmlsoap.org/soap/encoding/",
  "1.2": "http://www.w3.org/2003/05/soap-encoding",
};

const ENCODED =
  'The service uses the encoding of SOAP (use="encoded"). The tool writes the values without their types (xsi:type) and does not follow references in answers (href). Does the service understand it?';

type Steps = NonNullable<NonNullable<SchemaFacts["xml"]>["within"]>;
type Direction = "input" | "output";

/** What an envelope has: members with their places in it, and what is uncertain about them. */
export interface EnvelopeMembers extends Members {
  /** Elements that are always written, because a request is recognised by them. */
  anchors: Steps[];
  /** Members that are in the header. */
  inHeader: Set<string>;
}

/** A description that cannot be followed: the operation is left out. */
export class Unusable extends Error {}

interface MessagePart {
  name: string;
  node: XmlNode;
  element: QName | undefined;
}

const BODY: Steps = [{ name: "Body" }];
/** Parts of messages are not in a schema. */
const NO_SCHEMA: SchemaContext = { target: "", elementsQualified: false, attributesQualified: false };

/** Reads the messages of a port as envelopes. */
export class EnvelopeReader {
  readonly #definitions: WsdlDefinitions;
  readonly #facts: XsdFacts;
  readonly #port: Port;

  constructor(definitions: WsdlDefinitions, facts: XsdFacts, port: Port) {
    this.#definitions = definitions;
    this.#facts = facts;
    this.#port = port;
  }

  /** `bound`: the operation of the binding; `message`: the input or output of the port type. */
  read(bound: XmlNode, message: XmlNode, direction: Direction): EnvelopeMembers {
    const [binding] = childrenOf(bound, WSDL, direction);
    const body = binding && this.#find(binding, "body");
    const style = this.#styleOf(bound);
    const found: EnvelopeMembers = {
      properties: new Map(),
      required: new Set(),
      exclusive: [],
      doubts: [],
      anchors: [],
      inHeader: new Set(),
    };
    for (const header of binding ? this.#findAll(binding, "header") : []) this.#addHeader(found, header);
    const names = body?.attributes.get("parts")?.trim();
    const chosen = names === undefined ? undefined : names.split(/\s+/);
    const inHeaders = binding ? this.#headerParts(binding) : new Set<string>();
    const parts = this.#partsOf(message).filter(({ name }) => (chosen ? chosen.includes(name) : !inHeaders.has(name)));
    const isEncoded = body?.attributes.get("use") === "encoded";
    if (isEncoded && direction === "input") found.doubts.push(ENCODED);
    if (style === "rpc") {
      const operation = bound.attributes.get("name") ?? "";
      const name = direction === "input" ? operation : `${operation}Response`;
      const wrapper = { name, namespace: body?.attributes.get("namespace") ?? "" };
      this.#addRpc(found, parts, wrapper);
      if (isEncoded && direction === "input") this.#addEncodingStyle(found, wrapper, bound);
    } else {
      for (const part of parts) this.#addDocument(found, part);
      if (parts.length === 0) found.anchors.push(BODY);
    }
    return found;
  }

  /** The element of a fault's only part. */
  faultElement(fault: XmlNode): { element: QName; facts: SchemaFacts | undefined; evidence: Evidence } | undefined {
    const [part] = this.#findMessage(fault) ? this.#partsOf(fault) : [];
    if (!part?.element) return undefined;
    const found = this.#definitions.schemas.find("element", part.element);
    const evidence = this.#facts.placeOf(found?.node ?? part.node);
    return { element: part.element, facts: found && this.#elementFacts(found, part.element), evidence };
  }

  #styleOf(bound: XmlNode): "rpc" | "document" {
    const own = this.#find(bound, "operation")?.attributes.get("style");
    return (own ?? this.#port.style) === "rpc" ? "rpc" : "document";
  }

  #find(node: XmlNode, name: string): XmlNode | undefined {
    return this.#findAll(node, name)[0];
  }

  /** Elements of SOAP, also those in the root part of a multipart message. */
  #findAll(node: XmlNode, name: string): XmlNode[] {
    const own = childrenOf(node, this.#port.soap, name);
    if (own.length > 0) return own;
    const parts = node.children
      .filter((child) => child.name === "multipartRelated")
      .flatMap(({ children }) => children);
    return parts.flatMap((part) => childrenOf(part, this.#port.soap, name));
  }

  #findMessage(node: XmlNode): XmlNode | undefined {
    const name = qnameIn(node, "message");
    return name && this.#definitions.messages.get(keyOf(name));
  }

  #messageOf(node: XmlNode): XmlNode {
    const message = this.#findMessage(node);
    const name = node.attributes.get("message") ?? "";
    if (!message) throw new Unusable(`There is no message ${name}`);
    return message;
  }

  #partsOf(node: XmlNode): MessagePart[] {
    return childrenOf(this.#messageOf(node), WSDL, "part").map((part) => ({
      name: part.attributes.get("name") ?? "",
      node: part,
      element: qnameIn(part, "element"),
    }));
  }

  /** Parts that a header of the same message has. */
  #headerParts(binding: XmlNode): Set<string> {
    return new Set(this.#findAll(binding, "header").flatMap((header) => header.attributes.get("part") ?? []));
  }

  #addHeader(found: EnvelopeMembers, header: XmlNode): void {
    const name = header.attributes.get("part");
    const part = this.#findMessage(header) && this.#partsOf(header).find((each) => each.name === name);
    const element = part?.element;
    const declared = element && this.#definitions.schemas.find("element", element);
    if (!element || !declared) {
      found.doubts.push(`The header ${name ?? ""} is not described; it is not sent.`);
      return;
    }
    const key = freeKey(element.name, found.properties);
    const facts = this.#elementFacts(declared, element);
    found.properties.set(key, () => placed(facts, [{ name: "Header" }]));
    found.inHeader.add(key);
  }

  /** Document style: the element of the part, with its content as members. */
  #addDocument(found: EnvelopeMembers, part: MessagePart): void {
    const { element } = part;
    if (!element) return this.#addContent(found, { node: part.node, schema: NO_SCHEMA }, BODY);
    const declared = this.#definitions.schemas.find("element", element);
    if (!declared) throw new Unusable(`The element ${element.name} is not described`);
    const steps = [...BODY, { name: element.name, namespace: element.namespace }];
    if (this.#facts.complexTypeOf(declared)) {
      found.anchors.push(steps);
      return this.#addContent(found, declared, steps);
    }
    const key = freeKey(element.name, found.properties);
    const facts = this.#elementFacts(declared, element);
    found.properties.set(key, () => placed(facts, BODY));
    if (facts.nullable) found.anchors.push(steps);
    else found.required.add(key);
  }

  /** The members of an element's or part's type. */
  #addContent(found: EnvelopeMembers, part: SchemaPart, steps: Steps): void {
    const type = this.#facts.complexTypeOf(part);
    if (!type) {
      const name = part.node.attributes.get("name") ?? "value";
      found.properties.set(freeKey(name, found.properties), () =>
        this.#elementFacts(part, { namespace: "", name }, steps),
      );
      return;
    }
    const { properties, required, exclusive, doubts } = this.#facts.membersOf(
      this.#facts.modelOf(type),
      ENVELOPES[this.#port.version],
      steps,
    );
    for (const [member, read] of properties) {
      const key = freeKey(member, found.properties);
      found.properties.set(key, read);
      if (required.has(member)) found.required.add(key);
    }
    found.exclusive.push(...exclusive);
    found.doubts.push(...doubts);
  }

  /** RPC style: an element with the name of the operation, and in it one for each part. */
  #addRpc(found: EnvelopeMembers, parts: readonly MessagePart[], wrapper: { name: string; namespace: string }): void {
    const steps: Steps = [...BODY, wrapper];
    found.anchors.push(steps);
    for (const { name, node, element } of parts) {
      const declared = element && this.#definitions.schemas.find("element", element);
      if (element && !declared) throw new Unusable(`The element ${element.name} is not described`);
      const key = freeKey(name, found.properties);
      const part = declared ?? { node, schema: NO_SCHEMA };
      // WS-I Basic Profile, R2735: the elements of parts have no namespace.
      found.properties.set(key, () => this.#elementFacts(part, { namespace: "", name }, steps));
      found.required.add(key);
    }
  }

  /** SOAP 1.1, section 4.1.1: it says by which rules the content was written. */
  #addEncodingStyle(found: EnvelopeMembers, wrapper: QName, bound: XmlNode): void {
    const { version } = this.#port;
    const key = freeKey("encodingStyle", found.properties);
    const xml = {
      name: "encodingStyle",
      namespace: ENVELOPES[version],
      attribute: true,
      wrapped: false,
      within: [...BODY, wrapper],
    };
    const value = ENCODINGS[version];
    const evidence = this.#facts.wholePlaceOf(bound);
    found.properties.set(key, () => ({ ...plainFacts(evidence), types: ["string"], const: value, xml }));
    found.required.add(key);
  }

  #elementFacts(part: SchemaPart, { name, namespace }: QName, steps?: Steps): SchemaFacts {
    const facts = this.#facts.memberFacts(
      { kind: "element", name, namespace, ...part, min: 1, max: 1 },
      ENVELOPES[this.#port.version],
    );
    return steps ? placed(facts, steps) : facts;
  }
}

function placed(facts: SchemaFacts, within: Steps): SchemaFacts {
  return facts.xml ? { ...facts, xml: { ...facts.xml, within } } : facts;
}

export function freeKey(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  for (let more = 1; ; more++) {
    const key = more === 1 ? wanted : `${wanted}${more}`;
    if (!taken.has(key)) return key;
  }
}

/** The schema of a whole message. */
export function envelopeFacts(
  version: SoapVersion,
  { properties, required, exclusive, doubts }: Members,
  { evidence, identity }: { evidence: Evidence; identity: string },
): SchemaFacts {
  const namespace = ENVELOPES[version];
  return {
    ...plainFacts(evidence),
    identity,
    types: ["object"],
    properties,
    required,
    exclusive,
    inside: namespace,
    ...(doubts.length === 0 ? {} : { doubt: [...new Set(doubts)].join(" ") }),
    xml: { name: "Envelope", namespace, attribute: false, wrapped: false, root: true },
  };
}

/** A member that is always there and says nothing: it makes the elements around it. */
export function anchorFacts(steps: Steps, evidence: Evidence): SchemaFacts {
  const last = steps.at(-1) ?? { name: "Body" };
  const xml = { ...last, attribute: false, wrapped: false, presence: true as const, within: steps.slice(0, -1) };
  return { ...plainFacts(evidence), types: ["boolean"], const: true, xml };
}
