import type { ServiceCase } from "./document-services.ts";
import { OLD_CASES } from "./old-services.ts";
import { wsdlOf } from "./wsdl-writer.ts";

const schema = (name: string, content: string) =>
  `<xs:schema targetNamespace="urn:${name}" elementFormDefault="qualified">${content}</xs:schema>`;
const wrapper = (name: string, members: string) =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence>${members}</xs:sequence></xs:complexType></xs:element>`;

const tree: ServiceCase = {
  title: "nillable elements, ArrayOf types and types that contain themselves",
  name: "tree",
  wsdl: (origin) =>
    wsdlOf({
      name: "tree",
      origin,
      types: schema(
        "tree",
        `
    <xs:complexType name="ArrayOfInt"><xs:sequence><xs:element name="int" type="xs:int" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
    <xs:complexType name="ArrayOfNode"><xs:sequence><xs:element name="Node" type="t:Node" nillable="true" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
    <xs:complexType name="Node"><xs:sequence>
      <xs:element name="name" type="xs:string"/>
      <xs:element name="weight" type="xs:int" nillable="true"/>
      <xs:element name="children" type="t:ArrayOfNode" minOccurs="0"/>
    </xs:sequence></xs:complexType>
    ${wrapper("Save", `<xs:element name="root" type="t:Node"/><xs:element name="ids" type="t:ArrayOfInt" minOccurs="0"/><xs:element name="until" type="xs:dateTime" nillable="true"/>`)}
    ${wrapper("SaveResponse", `<xs:element name="SaveResult" type="t:Node" nillable="true" minOccurs="0"/><xs:element name="ids" type="t:ArrayOfInt" nillable="true"/>`)}`,
      ),
      operations: [{ name: "Save", in: "Save", out: "SaveResponse" }],
    }),
  calls: [
    {
      operation: "Save",
      tool: "save",
      given: {
        root: {
          name: "a",
          weight: 1,
          children: [
            { name: "b", weight: null },
            { name: "c", weight: 3, children: [] },
          ],
        },
        ids: [3, 4],
      },
      sent: ['nil="true"'],
      understood: {
        root: { name: "a", weight: 1, children: { Node: [{ name: "b" }, { name: "c", weight: 3 }] } },
        ids: { int: [3, 4] },
      },
      body: `<SaveResponse xmlns="urn:tree"><SaveResult><name>a</name><weight xsi:nil="true"/><children><Node><name>b</name><weight>2</weight></Node></children></SaveResult><ids xsi:nil="true"/></SaveResponse>`,
      gives: { SaveResult: { name: "a", weight: null, children: [{ name: "b", weight: 2, children: [] }] }, ids: [] },
    },
    {
      operation: "Save",
      tool: "save",
      given: { root: { name: "a", weight: 1 }, until: "2026-01-01T00:00:00Z" },
      body: `<SaveResponse xmlns="urn:tree"><SaveResult xsi:nil="true"/><ids><int>1</int><int>2</int></ids></SaveResponse>`,
      gives: { SaveResult: null, ids: [1, 2] },
    },
  ],
};

const faults = (version: "1.1" | "1.2"): ServiceCase => ({
  title: `declared faults of SOAP ${version}`,
  name: `faults${version.replace(".", "")}`,
  version,
  wsdl: (origin) => {
    const name = `faults${version.replace(".", "")}`;
    return wsdlOf({
      name,
      origin,
      version,
      types: schema(
        name,
        `
    <xs:element name="NoStock"><xs:complexType><xs:sequence><xs:element name="sku" type="xs:string"/><xs:element name="left" type="xs:int"/></xs:sequence></xs:complexType></xs:element>
    ${wrapper("Buy", `<xs:element name="sku" type="xs:string"/>`)}
    ${wrapper("BuyResponse", `<xs:element name="order" type="xs:int"/>`)}`,
      ),
      operations: [{ name: "Buy", in: "Buy", out: "BuyResponse", faults: ["NoStock"] }],
    });
  },
  calls: [
    {
      operation: "Buy",
      tool: "buy",
      given: { sku: "A" },
      understood: { sku: "A" },
      body: `<BuyResponse xmlns="urn:faults${version.replace(".", "")}"><order>7</order></BuyResponse>`,
      gives: { order: 7 },
    },
    {
      operation: "Buy",
      tool: "buy",
      given: { sku: "B" },
      status: 500,
      body: faultOf(
        version,
        "urn:faults",
        "Sold out",
        `<NoStock xmlns="urn:faults${version.replace(".", "")}"><sku>B</sku><left>0</left></NoStock>`,
      ),
      gives: "NoStock: Sold out (sku B, left 0)",
    },
    {
      operation: "Buy",
      tool: "buy",
      given: { sku: "C" },
      status: 500,
      body: faultOf(version, "", "Database is down", ""),
      gives: "Database is down",
    },
  ],
});

function faultOf(version: "1.1" | "1.2", _: string, text: string, detail: string): string {
  return version === "1.1"
    ? `<e:Fault><faultcode>e:Server</faultcode><faultstring>${text}</faultstring><detail>${detail}</detail></e:Fault>`
    : `<e:Fault><e:Code><e:Value>e:Receiver</e:Value></e:Code><e:Reason><e:Text xml:lang="en">${text}</e:Text></e:Reason><e:Detail>${detail}</e:Detail></e:Fault>`;
}

/** Two services, of which one has ports for both versions and one that is not SOAP. */
const ports: ServiceCase = {
  title: "several services and ports, also for GET requests",
  name: "ports",
  wsdl: (origin) =>
    wsdlOf({
      name: "ports",
      origin,
      types: schema(
        "ports",
        `
    ${wrapper("Add", `<xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:int"/>`)}
    ${wrapper("AddResponse", `<xs:element name="sum" type="xs:int"/>`)}
    ${wrapper("Shout", `<xs:element name="text" type="xs:string"/>`)}
    ${wrapper("ShoutResponse", `<xs:element name="loud" type="xs:string"/>`)}`,
      ),
      operations: [{ name: "Add", in: "Add", out: "AddResponse" }],
    }).replace(
      /<w:service[^]*<\/w:service>/,
      `<w:message name="Shout"><w:part name="p" element="t:Shout"/></w:message>
  <w:message name="ShoutResponse"><w:part name="p" element="t:ShoutResponse"/></w:message>
  <w:portType name="Voice"><w:operation name="Shout"><w:input message="t:Shout"/><w:output message="t:ShoutResponse"/></w:operation></w:portType>
  <w:binding name="New" type="t:ports" xmlns:s12="http://schemas.xmlsoap.org/wsdl/soap12/">
    <s12:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="Add"><s12:operation soapAction="urn:ports#Add"/><w:input><s12:body use="literal"/></w:input><w:output><s12:body use="literal"/></w:output></w:operation>
  </w:binding>
  <w:binding name="Get" type="t:ports" xmlns:h="http://schemas.xmlsoap.org/wsdl/http/">
    <h:binding verb="GET"/><w:operation name="Add"><h:operation location="/Add"/><w:input><h:urlEncoded/></w:input><w:output/></w:operation>
  </w:binding>
  <w:binding name="VoiceSoap" type="t:Voice">
    <s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="Shout"><s:operation soapAction=""/><w:input><s:body use="literal"/></w:input><w:output><s:body use="literal"/></w:output></w:operation>
  </w:binding>
  <w:service name="ports">
    <w:port name="portsPort" binding="t:portsSoap"><s:address location="${origin}/ports"/></w:port>
    <w:port name="NewPort" binding="t:New"><s12:address xmlns:s12="http://schemas.xmlsoap.org/wsdl/soap12/" location="${origin}/ports12"/></w:port>
    <w:port name="GetPort" binding="t:Get"><h:address xmlns:h="http://schemas.xmlsoap.org/wsdl/http/" location="${origin}/get"/></w:port>
  </w:service>
  <w:service name="Voices"><w:port name="VoicePort" binding="t:VoiceSoap"><s:address location="${origin}/voice"/></w:port></w:service>`,
    ),
  calls: [
    {
      operation: "Add",
      tool: "add",
      given: { a: 1, b: -2 },
      understood: { a: 1, b: -2 },
      body: `<AddResponse xmlns="urn:ports"><sum>-1</sum></AddResponse>`,
      gives: { sum: -1 },
    },
    {
      operation: "Shout",
      tool: "shout",
      given: { text: "hey" },
      body: `<ShoutResponse xmlns="urn:ports"><loud>HEY</loud></ShoutResponse>`,
      gives: { loud: "HEY" },
    },
  ],
};

/** Generated descriptions often have no line ends. */
const line: ServiceCase = {
  title: "a description in one line",
  name: "line",
  wsdl: (origin) =>
    wsdlOf({
      name: "line",
      origin,
      types: schema(
        "line",
        `<xs:simpleType name="Size"><xs:restriction base="xs:string"><xs:enumeration value="S"/><xs:enumeration value="L"/></xs:restriction></xs:simpleType>${wrapper("Order", `<xs:element name="size" type="t:Size"/><xs:element name="count"><xs:simpleType><xs:restriction base="xs:int"><xs:minInclusive value="1"/><xs:maxInclusive value="9"/></xs:restriction></xs:simpleType></xs:element>`)}${wrapper("OrderResponse", `<xs:element name="price" type="xs:decimal"/>`)}`,
      ),
      operations: [{ name: "Order", in: "Order", out: "OrderResponse" }],
    })
      .replaceAll(/\n\s*/g, " ")
      .replaceAll("> <", "><"),
  calls: [
    {
      operation: "Order",
      tool: "order",
      given: { size: "L", count: 2 },
      understood: { size: "L", count: 2 },
      body: `<OrderResponse xmlns="urn:line"><price>19.90</price></OrderResponse>`,
      gives: { price: 19.9 },
    },
  ],
};

const loose: ServiceCase = {
  title: "xsd:any, lists of values, unions and dates with a zone",
  name: "loose",
  wsdl: (origin) =>
    wsdlOf({
      name: "loose",
      origin,
      types: schema(
        "loose",
        `
    <xs:simpleType name="Ids"><xs:list itemType="xs:int"/></xs:simpleType>
    <xs:simpleType name="Size"><xs:union memberTypes="xs:int xs:string"/></xs:simpleType>
    <xs:complexType name="Any"><xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/></xs:sequence></xs:complexType>
    <xs:complexType name="Half"><xs:sequence><xs:element name="known" type="xs:string"/><xs:any minOccurs="0" processContents="lax"/></xs:sequence></xs:complexType>
    ${wrapper("Find", `<xs:element name="ids" type="t:Ids"/><xs:element name="size" type="t:Size" minOccurs="0"/><xs:element name="day" type="xs:date"/>`)}
    ${wrapper("FindResponse", `<xs:element name="day" type="xs:date"/><xs:element name="at" type="xs:time"/><xs:element name="ids" type="t:Ids"/><xs:element name="data" type="t:Any"/><xs:element name="half" type="t:Half"/>`)}`,
      ),
      operations: [{ name: "Find", in: "Find", out: "FindResponse" }],
    }),
  calls: [
    {
      operation: "Find",
      tool: "find",
      given: { ids: "1 2 3", size: "XL", day: "2026-02-28" },
      sent: [">1 2 3<", ">2026-02-28<"],
      body: `<FindResponse xmlns="urn:loose"><day>2026-02-28+01:00</day><at>10:00:00Z</at><ids>4  5
 6</ids><data><x xmlns="urn:x">1</x></data><half><known>yes</known><y xmlns="urn:y"/></half></FindResponse>`,
      gives: {
        day: "2026-02-28",
        at: "10:00:00Z",
        ids: "4 5 6",
        data: "",
        half: { known: "yes" },
        // What is in xsd:any is not lost.
        deviations: [
          { path: "Body/FindResponse/data/x", problem: "unknown element", received: "<x>1" },
          { path: "Body/FindResponse/half/y", problem: "unknown element", received: "<y>" },
        ],
      },
    },
  ],
};

export const AWKWARD_CASES: ServiceCase[] = [tree, faults("1.1"), faults("1.2"), ports, line, loose, ...OLD_CASES];
