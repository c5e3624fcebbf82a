import { wsdlOf, type Version } from "./wsdl-writer.ts";

/** A call of a tool, with what the service has to understand and what the tool has to say. */
interface ServiceCall {
  operation: string;
  tool: string;
  given: Record<string, unknown>;
  /** Parts of the request as it is sent. */
  sent?: string[];
  /** What the library understands; absent where it does not know this part of XML Schema. */
  understood?: Record<string, unknown>;
  /** The body that a service answers with, and what the tool makes of it. */
  body: string;
  /** A failure as text, or what the tool gives. */
  gives: string | Record<string, unknown>;
  status?: number;
}

/** A description with calls. */
export interface ServiceCase {
  title: string;
  name: string;
  version?: Version;
  wsdl: (origin: string) => string;
  /** Where it is not the name of the service. */
  path?: string;
  calls: ServiceCall[];
}

const schema = (content: string, form = "qualified", target = "t") =>
  `<xs:schema targetNamespace="urn:${target}" elementFormDefault="${form}">${content}</xs:schema>`;
const wrapper = (name: string, members: string) =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence>${members}</xs:sequence></xs:complexType></xs:element>`;

const bare: ServiceCase = {
  title: "document/literal bare, with attributes and single values",
  name: "bare",
  wsdl: (origin) =>
    wsdlOf({
      name: "bare",
      origin,
      types: schema(
        `
    <xs:complexType name="Query">
      <xs:sequence>
        <xs:element name="words" type="xs:string"/>
        <xs:element name="limit" type="xs:short" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="lang" type="xs:language" use="required"/>
      <xs:attribute name="fuzzy" type="xs:boolean" default="false"/>
    </xs:complexType>
    <xs:element name="query" type="t:Query"/>
    <xs:element name="hits">
      <xs:complexType>
        <xs:sequence>
          <xs:element name="hit" minOccurs="0" maxOccurs="unbounded">
            <xs:complexType><xs:simpleContent><xs:extension base="xs:decimal">
              <xs:attribute name="id" type="xs:long"/>
            </xs:extension></xs:simpleContent></xs:complexType>
          </xs:element>
        </xs:sequence>
        <xs:attribute name="total" type="xs:int" use="required"/>
      </xs:complexType>
    </xs:element>
    <xs:element name="word" type="xs:string"/>
    <xs:element name="count" type="xs:int"/>`,
        "qualified",
        "bare",
      ),
      operations: [
        { name: "search", in: "query", out: "hits" },
        { name: "countWord", in: "word", out: "count" },
      ],
    }),
  calls: [
    {
      operation: "search",
      tool: "search",
      given: { words: "a & b", limit: 5, lang: "de", fuzzy: true },
      understood: { attributes: { lang: "de", fuzzy: "true" }, words: "a & b", limit: 5 },
      body: `<hits xmlns="urn:bare" total="2"><hit id="9007199254740993">0.75</hit><hit>1</hit></hits>`,
      gives: { total: 2, hit: [{ id: "9007199254740993", value: 0.75 }, { value: 1 }] },
    },
    {
      operation: "countWord",
      tool: "count_word",
      given: { word: "  padded " },
      sent: ["  padded "],
      body: `<n:count xmlns:n="urn:bare">7</n:count>`,
      gives: { count: 7 },
    },
  ],
};

const headers: ServiceCase = {
  title: "SOAP headers: credentials and a header that callers give",
  name: "headers",
  wsdl: (origin) =>
    wsdlOf({
      name: "headers",
      origin,
      types: schema(
        `
    <xs:element name="AuthHeader"><xs:complexType><xs:sequence>
      <xs:element name="UserName" type="xs:string"/><xs:element name="Password" type="xs:string"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="Trace" type="xs:string"/>
    ${wrapper("GetBalance", `<xs:element name="account" type="xs:int"/>`)}
    ${wrapper("GetBalanceResponse", `<xs:element name="balance" type="xs:decimal"/>`)}
    ${wrapper("Ping", "")}
    ${wrapper("PingResponse", `<xs:element name="at" type="xs:dateTime"/>`)}`,
        "qualified",
        "headers",
      ),
      operations: [
        { name: "GetBalance", in: "GetBalance", out: "GetBalanceResponse", headers: ["AuthHeader", "Trace"] },
        { name: "Ping", in: "Ping", out: "PingResponse", headers: ["AuthHeader"] },
      ],
    }),
  calls: [
    {
      operation: "GetBalance",
      tool: "get_balance",
      given: { account: 12, Trace: "t-1" },
      sent: ["secret of user-name", "secret of password", ">t-1<"],
      understood: { account: 12 },
      body: `<GetBalanceResponse xmlns="urn:headers"><balance>-12.50</balance></GetBalanceResponse>`,
      gives: { balance: -12.5 },
    },
    {
      operation: "Ping",
      tool: "ping",
      given: {},
      sent: ["secret of user-name", "Ping"],
      body: `<PingResponse xmlns="urn:headers"><at>2026-03-01T10:00:00+02:00</at></PingResponse>`,
      gives: { at: "2026-03-01T10:00:00+02:00" },
    },
  ],
};

const shapes: ServiceCase = {
  title: "types that extend an abstract one, told apart by xsi:type",
  name: "shapes",
  wsdl: (origin) =>
    wsdlOf({
      name: "shapes",
      origin,
      types: schema(
        `
    <xs:complexType name="Shape" abstract="true"><xs:sequence><xs:element name="colour" type="xs:string"/></xs:sequence></xs:complexType>
    <xs:complexType name="Circle"><xs:complexContent><xs:extension base="t:Shape">
      <xs:sequence><xs:element name="radius" type="xs:double"/></xs:sequence>
    </xs:extension></xs:complexContent></xs:complexType>
    <xs:complexType name="Box"><xs:complexContent><xs:extension base="t:Shape">
      <xs:sequence><xs:element name="width" type="xs:double"/><xs:element name="height" type="xs:double"/></xs:sequence>
    </xs:extension></xs:complexContent></xs:complexType>
    ${wrapper("Draw", `<xs:element name="shape" type="t:Shape"/>`)}
    ${wrapper("DrawResponse", `<xs:element name="drawn" type="t:Shape" minOccurs="0" maxOccurs="unbounded"/>`)}`,
        "qualified",
        "shapes",
      ),
      operations: [{ name: "Draw", in: "Draw", out: "DrawResponse" }],
    }),
  calls: [
    {
      operation: "Draw",
      tool: "draw",
      given: { shape: { type: "Circle", colour: "red", radius: 2.5 } },
      sent: ['type="ns:Circle"'],
      understood: { shape: { colour: "red", radius: 2.5 } },
      body: `<p:DrawResponse xmlns:p="urn:shapes"><p:drawn xsi:type="p:Box"><p:colour>blue</p:colour><p:width>2</p:width><p:height>1</p:height></p:drawn><p:drawn xsi:type="p:Circle"><p:colour>red</p:colour><p:radius>1</p:radius></p:drawn></p:DrawResponse>`,
      gives: {
        drawn: [
          { type: "Box", colour: "blue", width: 2, height: 1 },
          { type: "Circle", colour: "red", radius: 1 },
        ],
      },
    },
  ],
};

const mixed: ServiceCase = {
  title: "elements with and without a namespace in one message",
  name: "mixed",
  wsdl: (origin) =>
    wsdlOf({
      name: "mixed",
      origin,
      types: `${schema(
        `
    <xs:import namespace="urn:people"/>
    ${wrapper(
      "Register",
      `<xs:element name="guest" type="p:Person" xmlns:p="urn:people"/><xs:element name="room" type="xs:int" form="qualified"/><xs:element name="note" type="xs:string" minOccurs="0"/>`,
    )}
    ${wrapper(
      "RegisterResponse",
      `<xs:element name="number" type="xs:int"/><xs:element ref="p:badge" xmlns:p="urn:people"/>`,
    )}`,
        "unqualified",
        "mixed",
      )}${schema(
        `
    <xs:complexType name="Person"><xs:sequence>
      <xs:element name="first" type="xs:string"/><xs:element name="last" type="xs:string"/>
      <xs:element name="nick" type="xs:string" form="unqualified" minOccurs="0"/>
    </xs:sequence></xs:complexType>
    <xs:element name="badge"><xs:complexType><xs:sequence><xs:element name="colour" type="xs:string"/></xs:sequence></xs:complexType></xs:element>`,
        "qualified",
        "people",
      )}`,
      operations: [{ name: "Register", in: "Register", out: "RegisterResponse" }],
    }),
  calls: [
    {
      operation: "Register",
      tool: "register",
      given: { guest: { first: "Ada", last: "L", nick: "A" }, room: 7, note: "late" },
      understood: { guest: { first: "Ada", last: "L", nick: "A" }, room: 7, note: "late" },
      body: `<m:RegisterResponse xmlns:m="urn:mixed" xmlns:p="urn:people"><number>3</number><p:badge><p:colour>gold</p:colour></p:badge></m:RegisterResponse>`,
      gives: { number: 3, badge: { colour: "gold" } },
    },
  ],
};

export const DOCUMENT_CASES: ServiceCase[] = [bare, headers, shapes, mixed];
