/** The namespaces of SOAP in descriptions and in messages. */
const VERSIONS = {
  "1.1": {
    binding: "http://schemas.xmlsoap.org/wsdl/soap/",
    envelope: "http://schemas.xmlsoap.org/soap/envelope/",
    type: "text/xml; charset=utf-8",
  },
  "1.2": {
    binding: "http://schemas.xmlsoap.org/wsdl/soap12/",
    envelope: "http://www.w3.org/2003/05/soap-envelope",
    type: "application/soap+xml; charset=utf-8",
  },
} as const;

export type Version = keyof typeof VERSIONS;

interface WrittenOperation {
  name: string;
  /** Names of elements in the target namespace. */
  in: string;
  out?: string;
  headers?: string[];
  faults?: string[];
}

interface WrittenService {
  name: string;
  origin: string;
  version?: Version;
  /** What is inside `wsdl:types`; `t` is the target namespace and `xs` that of schemas. */
  types: string;
  operations: WrittenOperation[];
}

/** A description in document style; its target namespace is `urn:<name>`, its address `<origin>/<name>`. */
export function wsdlOf({ name, origin, version = "1.1", types, operations }: WrittenService): string {
  const parts = new Set(
    operations.flatMap(({ in: input, out, headers = [], faults = [] }) => [
      input,
      ...(out ? [out] : []),
      ...headers,
      ...faults,
    ]),
  );
  const messages = [...parts].map(
    (part) => `  <w:message name="${part}"><w:part name="${part}" element="t:${part}"/></w:message>`,
  );
  const declared = operations.map(
    ({ name: operation, in: input, out, faults = [] }) =>
      `    <w:operation name="${operation}"><w:documentation>${operation} of ${name}.</w:documentation><w:input message="t:${input}"/>${out ? `<w:output message="t:${out}"/>` : ""}${faults.map((fault) => `<w:fault name="${fault}" message="t:${fault}"/>`).join("")}</w:operation>`,
  );
  const bound = operations.map(({ name: operation, out, headers = [], faults = [] }) => {
    const before = headers.map((header) => `<s:header message="t:${header}" part="${header}" use="literal"/>`).join("");
    return `    <w:operation name="${operation}"><s:operation soapAction="urn:${name}#${operation}"/>
      <w:input>${before}<s:body use="literal"/></w:input>
      ${out ? `<w:output><s:body use="literal"/></w:output>` : ""}${faults.map((fault) => `<w:fault name="${fault}"><s:fault name="${fault}" use="literal"/></w:fault>`).join("")}
    </w:operation>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<w:definitions name="${name}" targetNamespace="urn:${name}" xmlns:t="urn:${name}" xmlns:w="http://schemas.xmlsoap.org/wsdl/"
    xmlns:s="${VERSIONS[version].binding}" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:types>${types}</w:types>
${messages.join("\n")}
  <w:portType name="${name}">
${declared.join("\n")}
  </w:portType>
  <w:binding name="${name}Soap" type="t:${name}">
    <s:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
${bound.join("\n")}
  </w:binding>
  <w:service name="${name}"><w:port name="${name}Port" binding="t:${name}Soap"><s:address location="${origin}/${name}"/></w:port></w:service>
</w:definitions>
`;
}

/** A message as a service writes it. */
export function envelopeOf(version: Version, body: string): { type: string; text: string } {
  const { envelope, type } = VERSIONS[version];
  const text = `<?xml version="1.0"?><e:Envelope xmlns:e="${envelope}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><e:Header/><e:Body>${body}</e:Body></e:Envelope>`;
  return { type, text };
}
