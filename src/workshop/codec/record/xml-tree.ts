/** An XML element with resolved names, without prefixes. */
export interface XmlElement {
  name: string;
  /** Empty for none. */
  namespace: string;
  attributes: readonly XmlAttribute[];
  children: readonly XmlElement[];
  /** Its own text and CDATA, without its children's. */
  text: string;
}

export interface XmlAttribute {
  name: string;
  namespace: string;
  value: string;
}

export const XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/";
export const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";
export const XSI_NAMESPACE = "http://www.w3.org/2001/XMLSchema-instance";

/** Compares names with their namespaces. */
export function isSameName(
  a: Pick<XmlAttribute, "name" | "namespace">,
  b: Pick<XmlAttribute, "name" | "namespace">,
): boolean {
  return a.name === b.name && a.namespace === b.namespace;
}
