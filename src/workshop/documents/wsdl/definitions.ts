import { childrenOf, keyOf, qnameIn, XSD, type QName, type XmlNode } from "./xml-nodes.ts";
import { SchemaSet } from "./xsd/schema-set.ts";
import { BUNDLE } from "./bundle-wsdl.ts";

export const WSDL = "http://schemas.xmlsoap.org/wsdl/";
/** The namespaces of SOAP in WSDL, by version. */
const SOAP_BINDINGS = {
  "1.1": "http://schemas.xmlsoap.org/wsdl/soap/",
  "1.2": "http://schemas.xmlsoap.org/wsdl/soap12/",
} as const;

export type SoapVersion = keyof typeof SOAP_BINDINGS;

/** One way to reach a service. */
export interface Port {
  name: string;
  service: string;
  version: SoapVersion;
  location: string | undefined;
  node: XmlNode;
  binding: XmlNode;
  /** The namespace of the elements of SOAP in the binding. */
  soap: string;
  /** Of operations that have none of their own. */
  style: string | undefined;
  portType: QName;
}

/** The parts of a WSDL 1.1 description and of what it imports. */
export interface WsdlDefinitions {
  root: XmlNode;
  /** All definitions, the document's own first. */
  all: XmlNode[];
  schemas: SchemaSet;
  messages: Map<string, XmlNode>;
  portTypes: Map<string, XmlNode>;
  ports: Port[];
  /** Names of bindings that are not SOAP. */
  otherBindings: string[];
}

export function readDefinitions(root: XmlNode): WsdlDefinitions {
  const files = root.namespace === BUNDLE ? root.children.flatMap((file) => file.children) : [root];
  const all = files.filter(({ name, namespace }) => namespace === WSDL && name === "definitions");
  const schemas = new SchemaSet();
  const embedded = all.flatMap((each) =>
    childrenOf(each, WSDL, "types").flatMap((types) => childrenOf(types, XSD, "schema")),
  );
  const apart = root.namespace === BUNDLE ? root.children : [];
  for (const schema of embedded) schemas.add(schema);
  for (const file of apart) {
    // A schema without a target namespace has that of the schemas that include it.
    const targets = (file.attributes.get("targets") ?? "").split(" ");
    for (const schema of childrenOf(file, XSD, "schema")) {
      if (schema.attributes.has("targetNamespace")) schemas.add(schema);
      else for (const target of targets) schemas.add(schema, target);
    }
  }
  const messages = named(all, "message");
  const portTypes = named(all, "portType");
  const bindings = named(all, "binding");
  const otherBindings: string[] = [];
  const ports = portsOf(all, bindings, otherBindings);
  return { root: all[0] ?? root, all, schemas, messages, portTypes, ports, otherBindings };
}

function named(all: readonly XmlNode[], kind: string): Map<string, XmlNode> {
  const found = new Map<string, XmlNode>();
  for (const definitions of all) {
    const namespace = definitions.attributes.get("targetNamespace") ?? "";
    for (const node of childrenOf(definitions, WSDL, kind)) {
      const key = keyOf({ namespace, name: node.attributes.get("name") ?? "" });
      if (!found.has(key)) found.set(key, node);
    }
  }
  return found;
}

/** The ports of all services; of a description without services those of its bindings. */
function portsOf(all: readonly XmlNode[], bindings: ReadonlyMap<string, XmlNode>, others: string[]): Port[] {
  const ports: Port[] = [];
  const used = new Set<XmlNode>();
  for (const service of all.flatMap((each) => childrenOf(each, WSDL, "service"))) {
    for (const port of childrenOf(service, WSDL, "port")) {
      const name = qnameIn(port, "binding");
      const binding = name && bindings.get(keyOf(name));
      if (!binding) continue;
      used.add(binding);
      const read = portOf(port, binding, service.attributes.get("name") ?? "");
      if (read) ports.push(read);
      else others.push(binding.attributes.get("name") ?? "");
    }
  }
  for (const binding of bindings.values()) {
    if (used.has(binding) || ports.length > 0) continue;
    const read = portOf(binding, binding, "");
    if (read) ports.push(read);
    else others.push(binding.attributes.get("name") ?? "");
  }
  return ports;
}

function portOf(port: XmlNode, binding: XmlNode, service: string): Port | undefined {
  const portType = qnameIn(binding, "type");
  if (!portType) return undefined;
  for (const version of ["1.1", "1.2"] as const) {
    const soap = SOAP_BINDINGS[version];
    const [own] = childrenOf(binding, soap, "binding");
    if (!own) continue;
    const address = port.children.find(({ name, namespace }) => name === "address" && namespace === soap);
    const location = address?.attributes.get("location")?.trim();
    const style = own.attributes.get("style");
    const name = port.attributes.get("name") ?? "";
    return { name, service, version, location, node: port, binding, soap, style, portType };
  }
  return undefined;
}
