import type {
  ContentFacts,
  Evidence,
  OmittedOperation,
  OperationFacts,
  ParameterFacts,
  SchemaFacts,
  ErrorFacts,
} from "../api-facts.ts";
import { isCredentialName } from "../../../masking/secret-names.ts";
import { childrenOf, type XmlNode } from "./xml-nodes.ts";
import { WSDL, type WsdlDefinitions, type Port, type SoapVersion } from "./definitions.ts";
import { anchorFacts, envelopeFacts, EnvelopeReader, freeKey, Unusable, type EnvelopeMembers } from "./envelope.ts";
import type { CredentialCensus } from "./soap-credentials.ts";
import { TooManyParticles } from "./xsd/content-model.ts";
import { plainFacts, type XsdFacts } from "./xsd/schema-facts.ts";
import { documentationOf } from "./xsd/schema-set.ts";

/** Names of elements that hold credentials. */
const HOLDER =
  /cred(?:ential)?s?$|^(?:ws)?cred|auth(?:entication|orization)?(?:_?(?:header|info|data|token|soap|details?))*$|^auth|login(?:info|data)?$|^usernametoken$|security(?:header|token)?$|session(?:header)?$/i;

/** An operation of a port, with both of its descriptions. */
export interface BoundOperation {
  name: string;
  key: string;
  path: string;
  port: Port;
  /** In the binding, and in the port type. */
  bound: XmlNode;
  declared: XmlNode;
}

export interface OperationContext {
  definitions: WsdlDefinitions;
  facts: XsdFacts;
  census: CredentialCensus;
}

/** Reads the request of an operation, for counting what all requests have in common. */
export function requestMembers(
  { port, bound, declared }: BoundOperation,
  { definitions, facts }: OperationContext,
): string[] {
  const [input] = childrenOf(declared, WSDL, "input");
  if (!input) return [];
  try {
    return [...new EnvelopeReader(definitions, facts, port).read(bound, input, "input").properties.keys()];
  } catch (error) {
    if (error instanceof Unusable || error instanceof TooManyParticles) return [];
    throw error;
  }
}

/** The facts of an operation, or why it is left out. */
export function readOperation(operation: BoundOperation, context: OperationContext): OperationFacts | OmittedOperation {
  const { declared, key } = operation;
  const evidence = context.facts.wholePlaceOf(declared);
  try {
    const [first] = declared.children.filter(({ name }) => name === "input" || name === "output");
    if (first?.name !== "input") return { key, reason: "webhook", evidence };
    return operationFacts(operation, first, context);
  } catch (error) {
    if (error instanceof Unusable) return { key, reason: "unresolved-reference", detail: error.message, evidence };
    if (error instanceof TooManyParticles) return { key, reason: "too-large", evidence };
    throw error;
  }
}

function operationFacts(operation: BoundOperation, input: XmlNode, context: OperationContext): OperationFacts {
  const { name, key, path, port, bound, declared } = operation;
  const { definitions, facts } = context;
  const evidence = facts.wholePlaceOf(declared);
  const reader = new EnvelopeReader(definitions, facts, port);
  const request = withSecrets(reader.read(bound, input, "input"), name, context);
  addAnchors(request, evidence);
  const action = soapAction(bound, port);
  const description = documentationOf(declared) ?? documentationOf(bound);
  const identity = `${key} of ${port.name}`;
  const [output] = childrenOf(declared, WSDL, "output");
  const answer = output && answerOrText(operation, output, reader, context);
  if (answer?.doubt !== undefined) request.doubts.push(answer.doubt);
  return {
    key,
    id: name,
    method: "POST",
    path,
    ...(description === undefined ? {} : { description }),
    tags: [],
    deprecated: false,
    parameters: port.version === "1.1" ? [actionHeader(action, facts.wholePlaceOf(bound))] : [],
    body: {
      required: true,
      contents: [
        contentOf(
          port.version === "1.1"
            ? "text/xml; charset=utf-8"
            : `application/soap+xml; charset=utf-8${action === "" ? "" : `; action="${action}"`}`,
          envelopeFacts(port.version, request, {
            evidence: facts.wholePlaceOf(input),
            identity: `request ${identity}`,
          }),
        ),
      ],
      evidence,
    },
    responses: answer
      ? [{ status: "200", contents: [answer.content], headers: [], evidence }]
      : [{ status: "204", contents: [], headers: [], evidence }],
    security: [],
    ...(answer?.errors ? { errors: answer.errors } : {}),
    evidence,
  };
}

interface Answer {
  content: ContentFacts;
  errors?: NonNullable<OperationFacts["errors"]>;
  doubt?: string;
}

/** The answer of an operation; its text, if the description does not say what is in it. */
function answerOrText(
  operation: BoundOperation,
  output: XmlNode,
  reader: EnvelopeReader,
  context: OperationContext,
): Answer {
  try {
    return answerOf(operation, output, reader, context);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    const evidence = context.facts.wholePlaceOf(output);
    return {
      content: { mediaType: "text/plain", examples: [], encoding: {}, evidence },
      doubt: `The answer is not described: ${error.message}. The tool gives it as text. Can the missing description be imported?`,
    };
  }
}

function answerOf(
  { name: _name, key, port, bound, declared }: BoundOperation,
  output: XmlNode,
  reader: EnvelopeReader,
  { facts }: OperationContext,
): Answer {
  const members = reader.read(bound, output, "output");
  const evidence = facts.wholePlaceOf(output);
  const faults = childrenOf(declared, WSDL, "fault").flatMap((fault): DeclaredFault[] => {
    const found = reader.faultElement(fault);
    const name = fault.attributes.get("name") ?? found?.element.name ?? "fault";
    const place = facts.wholePlaceOf(fault);
    return found
      ? [{ name, description: documentationOf(fault), element: found.element, facts: found.facts, evidence: place }]
      : [];
  });
  const { properties, errors } = faultFacts(port.version, faults, {
    taken: new Set(members.properties.keys()),
    evidence,
  });
  for (const [key, read] of properties) members.properties.set(key, read);
  if (members.inHeader.size === 0) {
    // Services send headers that they do not describe, about addresses and security.
    const xml = { name: "Header", attribute: false, wrapped: false, presence: true as const };
    const header: SchemaFacts = { ...plainFacts(evidence), types: ["boolean"], hidden: true, writeOnly: true, xml };
    members.properties.set(freeKey("soapHeader", members.properties), () => header);
  }
  const schema = envelopeFacts(port.version, members, { evidence, identity: `answer ${key} of ${port.name}` });
  return { content: contentOf(port.version === "1.1" ? "text/xml" : "application/soap+xml", schema), errors };
}

function contentOf(mediaType: string, schema: SchemaFacts): ContentFacts {
  return { mediaType, schema, examples: [], encoding: {}, evidence: schema.evidence };
}

/** The element of the request is written even if nothing is inside it. */
function addAnchors(request: EnvelopeMembers, evidence: Evidence): void {
  for (const steps of request.anchors) {
    const isMade = [...request.required].some((key) => {
      const { types, xml, nullable } = request.properties.get(key)?.() ?? plainFacts(evidence);
      const isInside = steps.every((step, at) => xml?.within?.[at]?.name === step.name);
      return isInside && !nullable && types[0] !== "array" && !xml?.presence && !request.inHeader.has(key);
    });
    if (!isMade) request.properties.set(freeKey("soapRequest", request.properties), () => anchorFacts(steps, evidence));
  }
}

function soapAction(bound: XmlNode, { soap }: Port): string {
  const [operation] = childrenOf(bound, soap, "operation");
  return operation?.attributes.get("soapAction")?.replaceAll(/["\r\n]/g, "") ?? "";
}

/** SOAP 1.1, section 6.1.1: the header is always there, and in quotation marks. */
function actionHeader(action: string, evidence: Evidence): ParameterFacts {
  const constant = `"${action}"`;
  return {
    name: "SOAPAction",
    in: "header",
    required: true,
    deprecated: false,
    schema: { ...plainFacts(evidence), types: ["string"], const: constant },
    style: "simple",
    explode: false,
    constant,
    examples: [],
    evidence,
  };
}

/** Members that carry credentials become secrets, or a question where that is not certain. */
function withSecrets(request: EnvelopeMembers, operation: string, { census }: OperationContext): EnvelopeMembers {
  const properties = new Map<string, () => SchemaFacts>();
  const required = new Set(request.required);
  const inHeader = new Set(request.inHeader);
  const siblings = [...request.properties.keys()];
  for (const [key, read] of request.properties) {
    const facts = read();
    const type = facts.allOf.length === 1 ? facts.allOf[0]?.() : undefined;
    const members = type && credentialsIn(key, type, isSingle);
    if (type && members) {
      for (const [member, secret] of members) {
        const own = freeKey(request.properties.has(member) ? `${key}${member}` : member, properties);
        properties.set(own, () => inside(type, member, secret, facts));
        required.add(own);
        if (inHeader.has(key)) inHeader.add(own);
      }
      required.delete(key);
      continue;
    }
    const judged = isSingle(facts) && facts.types[0] === "string" ? census.judge(operation, key, siblings) : "argument";
    if (judged === "secret") {
      properties.set(key, () => ({ ...read(), secret: { name: key, isPublic: !isCredentialName(key) } }));
      required.add(key);
    } else if (judged === "doubtful") {
      const doubt = `"${key}" may be a credential; callers give it. Should it be a secret of the server instead?`;
      properties.set(key, () => ({ ...read(), doubt }));
    } else properties.set(key, read);
  }
  return { ...request, properties, required, inHeader };
}

/** A member of an object of credentials, as a member of the request. */
function inside(type: SchemaFacts, member: string, secret: SecretMember, holder: SchemaFacts): SchemaFacts {
  const facts = type.properties.get(member)?.() ?? plainFacts(type.evidence);
  const { name = "", namespace, within = [] } = holder.xml ?? {};
  const step = { name, ...(namespace === undefined ? {} : { namespace }) };
  const isBare = facts.xml?.attribute || facts.xml?.text;
  const own = facts.xml?.namespace ?? (isBare ? undefined : type.inside);
  return {
    ...facts,
    nullable: false,
    secret,
    xml: {
      attribute: false,
      wrapped: false,
      ...facts.xml,
      ...(own === undefined ? {} : { namespace: own }),
      within: [...within, step],
    },
  };
}

function isSingle({ types, allOf, xml }: SchemaFacts): boolean {
  const [type] = types;
  return allOf.length === 0 && types.length === 1 && type !== "object" && type !== "array" && !xml?.presence;
}

type Steps = NonNullable<NonNullable<SchemaFacts["xml"]>["within"]>;

/** A fault that the description declares: the element in its detail. */
interface DeclaredFault {
  name: string;
  description?: string | undefined;
  element: { name: string; namespace: string };
  facts: SchemaFacts | undefined;
  evidence: Evidence;
}

/** The members of an answer that say why it failed, and the failures of the tool. */
interface FaultFacts {
  properties: Map<string, () => SchemaFacts>;
  errors: ErrorFacts[];
}

const MOST_DETAILS = 4;

function faultFacts(
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

/** A member of a request that is stored by the operator and not given by the caller. */
interface SecretMember {
  name: string;
  /** Whether its value may be shown, as that of a user name. */
  isPublic: boolean;
}

/** The members of an object that only has credentials; undefined if it is something else. */
function credentialsIn(
  name: string,
  facts: SchemaFacts,
  isSingle: (facts: SchemaFacts) => boolean,
): Map<string, SecretMember> | undefined {
  if (facts.properties.size === 0 || facts.properties.size > 8) return undefined;
  const members = [...facts.properties].map(([key, read]) => ({ key, facts: read() }));
  const texts = members.filter((member) => isSingle(member.facts));
  const secret = texts.find(({ key }) => isCredentialName(key));
  if (!secret || (!HOLDER.test(name) && !HOLDER.test(facts.name ?? ""))) return undefined;
  if (texts.length !== members.length) return undefined;
  return new Map(texts.map(({ key }) => [key, { name: key, isPublic: !isCredentialName(key) }]));
}
