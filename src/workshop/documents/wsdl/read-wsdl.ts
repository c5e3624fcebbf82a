import type { ApiFacts, OmittedOperation, OperationFacts, Remark, ServerFacts } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";
import { childrenOf, keyOf, readXmlNodes, type XmlNode } from "./xml-nodes.ts";
import { readDefinitions, WSDL, type WsdlDefinitions, type Port } from "./definitions.ts";
import { CredentialCensus } from "./soap-credentials.ts";
import { readOperation, requestMembers, type BoundOperation, type OperationContext } from "./soap-operation.ts";
import { XsdFacts } from "./xsd/schema-facts.ts";
import { documentationOf } from "./xsd/schema-set.ts";

/** More operations are not one server. */
const MOST_OPERATIONS = 3_000;

/** Reads a WSDL 1.1 description with its XML Schemas: each operation of a port type once. */
export function readWsdl(document: LoadedDocument): ApiFacts {
  const definitions = readDefinitions(readXmlNodes(document.text, document.name));
  const facts = new XsdFacts(definitions.schemas, document.name);
  const { chosen, left } = chosenPorts(definitions.ports);
  const remarks: Remark[] = document.remarks.map((text) => ({ text, evidence: `${document.name}#L1` }));
  const context: OperationContext = { definitions, facts, census: new CredentialCensus() };
  const bound = chosen.flatMap((port) => operationsOf(port, definitions));
  const operations: OperationFacts[] = [];
  const omitted: OmittedOperation[] = [];
  const known = withKeys(bound.slice(0, MOST_OPERATIONS));
  for (const operation of known) context.census.add(operation.name, requestMembers(operation, context));
  const [first] = chosen;
  for (const operation of known) {
    const read = readOperation(operation, context);
    if ("reason" in read) omitted.push(read);
    else operations.push(operation.port === first ? read : { ...read, ...ownServers(operation.port, facts) });
  }
  if (bound.length > known.length) {
    const text = `It has ${bound.length} operations; the first ${known.length} were read`;
    remarks.push({ text, evidence: `${document.name}#L1` });
  }
  remarks.push(...choiceRemarks(first, left, definitions, facts));
  const title = first?.service || definitions.root.attributes.get("name") || document.name;
  const description = documentationOf(definitions.root) ?? serviceText(definitions);
  return {
    format: "wsdl-1.1",
    title,
    version: "1.0.0",
    ...(description === undefined ? {} : { description }),
    servers: first ? serversOf(first, facts) : [],
    security: {},
    tags: [],
    operations,
    omitted,
    remarks,
  };
}

function serviceText({ all }: WsdlDefinitions): string | undefined {
  const [service] = all.flatMap((each) => childrenOf(each, WSDL, "service"));
  return service && documentationOf(service);
}

/** The operations of a port, with what the port type says about them. */
function operationsOf(port: Port, { portTypes }: WsdlDefinitions): Omit<BoundOperation, "key">[] {
  const declared = new Map<string, XmlNode[]>();
  const portType = portTypes.get(keyOf(port.portType));
  for (const operation of portType ? childrenOf(portType, WSDL, "operation") : []) {
    const name = operation.attributes.get("name") ?? "";
    declared.set(name, [...(declared.get(name) ?? []), operation]);
  }
  const path = pathOf(port);
  return childrenOf(port.binding, WSDL, "operation").flatMap((bound) => {
    const name = bound.attributes.get("name") ?? "";
    const same = declared.get(name) ?? [];
    // Overloaded operations are told apart by the name of their input.
    const [input] = childrenOf(bound, WSDL, "input");
    const wanted = input?.attributes.get("name");
    const inputOf = (each: XmlNode) => childrenOf(each, WSDL, "input")[0]?.attributes.get("name");
    const match = same.find((each) => wanted !== undefined && inputOf(each) === wanted) ?? same[0];
    return match ? [{ name, path, port, bound, declared: match }] : [];
  });
}

function withKeys(operations: readonly Omit<BoundOperation, "key">[]): BoundOperation[] {
  const counts = new Map<string, number>();
  return operations.map((operation) => {
    const key = `POST ${operation.path}#${operation.name}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return { ...operation, key: count === 1 ? key : `${key} (${count})` };
  });
}

/** The last step of the address, which may have a query; the steps before it are the base. */
function pathOf({ location = "" }: Port): string {
  const [, path = "", query = ""] = /^[a-z][\w+.-]*:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(location) ?? [];
  return `/${path.replace(/^.*\//, "")}${query}`;
}

function serversOf(port: Port, facts: XsdFacts): ServerFacts[] {
  const { location = "", node } = port;
  const base = location.replace(/[?#].*$/s, "").replace(/(?<=[^/]\/)[^/]*$/, "");
  return base === "" ? [] : [{ url: base, variables: [], evidence: facts.wholePlaceOf(node) }];
}

function ownServers(port: Port, facts: XsdFacts): { servers?: ServerFacts[] } {
  const servers = serversOf(port, facts);
  return servers.length === 0 ? {} : { servers };
}

/** What was chosen without asking, and what has no operations. */
function choiceRemarks(
  first: Port | undefined,
  left: readonly Port[],
  { ports, otherBindings, root }: WsdlDefinitions,
  facts: XsdFacts,
): Remark[] {
  const evidence = facts.placeOf(first?.node ?? root);
  const remarks: Remark[] = [];
  if (first && left.length > 0) {
    const named = left.slice(0, 5).map(({ name, version }) => `${name} (SOAP ${version})`);
    remarks.push({
      text: `${first.name} (SOAP ${first.version}) is used; the same operations are also at ${named.join(", ")}`,
      evidence,
    });
  }
  if (ports.length === 0) {
    const found =
      otherBindings.length === 0
        ? "has no bindings"
        : `only has bindings that are not SOAP (${otherBindings.slice(0, 5).join(", ")})`;
    remarks.push({ text: `The description ${found}, so there are no operations`, evidence });
  }
  return remarks;
}

/**
 * The ports that tools are made of: of several with the same operations one, SOAP 1.1 before 1.2, and https before http.
 */
function chosenPorts(ports: readonly Port[]): { chosen: Port[]; left: Port[] } {
  const groups = new Map<string, Port[]>();
  for (const port of ports) {
    const key = keyOf(port.portType);
    groups.set(key, [...(groups.get(key) ?? []), port]);
  }
  const chosen: Port[] = [];
  const left: Port[] = [];
  for (const group of groups.values()) {
    const [best, ...others] = group.toSorted((a, b) => rankOf(a) - rankOf(b));
    if (best) chosen.push(best);
    left.push(...others);
  }
  return { chosen, left };
}

function rankOf({ version, location = "", binding, soap }: Port): number {
  const isEncoded = binding.children.some(({ children }) =>
    children.some((each) => childrenOf(each, soap, "body").some((body) => body.attributes.get("use") === "encoded")),
  );
  return (
    (isEncoded ? 8 : 0) + (location === "" ? 4 : 0) + (/^https:/i.test(location) ? 0 : 2) + (version === "1.1" ? 0 : 1)
  );
}
