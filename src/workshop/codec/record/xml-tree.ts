/** An element as it is read and written: names are resolved, prefixes mean nothing any more. */
export interface XmlElement {
  name: string;
  /** Empty for none. */
  namespace: string;
  attributes: readonly XmlAttribute[];
  children: readonly XmlElement[];
  /** Its own text and CDATA, without that of its children. */
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

/** Names are the same when their namespaces are. */
export function isSameName(
  a: Pick<XmlAttribute, "name" | "namespace">,
  b: Pick<XmlAttribute, "name" | "namespace">,
): boolean {
  return a.name === b.name && a.namespace === b.namespace;
}
