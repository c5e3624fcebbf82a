const SOAP = { "1.1": "http://schemas.xmlsoap.org/wsdl/soap/", "1.2": "http://schemas.xmlsoap.org/wsdl/soap12/" };

/** Document style, SOAP 1.1, with a schema in another file. */
export function orders(origin: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<w:definitions name="Orders" targetNamespace="urn:orders" xmlns:t="urn:orders" xmlns:x="urn:orders:types"
    xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="${SOAP["1.1"]}" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:types>
    <xs:schema targetNamespace="urn:orders" elementFormDefault="qualified">
      <xs:import namespace="urn:orders:types" schemaLocation="types.xsd"/>
      <xs:element name="PlaceOrder">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="customer" type="x:Customer"/>
            <xs:element name="lines" type="x:Lines"/>
            <xs:element name="giftCard" type="xs:string" minOccurs="0"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:element name="PlaceOrderResponse">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="number" type="xs:int"/>
            <xs:element name="state" type="x:State"/>
            <xs:element name="lines" type="x:Lines" minOccurs="0"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
    </xs:schema>
  </w:types>
  <w:message name="In"><w:part name="parameters" element="t:PlaceOrder"/></w:message>
  <w:message name="Out"><w:part name="parameters" element="t:PlaceOrderResponse"/></w:message>
  <w:portType name="Orders">
    <w:operation name="PlaceOrder">
      <w:documentation>Places an order.</w:documentation>
      <w:input message="t:In"/>
      <w:output message="t:Out"/>
    </w:operation>
  </w:portType>
  <w:binding name="OrdersSoap" type="t:Orders">
    <s:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="PlaceOrder">
      <s:operation soapAction="urn:orders#PlaceOrder"/>
      <w:input><s:body use="literal"/></w:input>
      <w:output><s:body use="literal"/></w:output>
    </w:operation>
  </w:binding>
  <w:service name="Orders">
    <w:port name="OrdersPort" binding="t:OrdersSoap"><s:address location="${origin}/orders"/></w:port>
  </w:service>
</w:definitions>
`;
}

export function types(): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<xs:schema targetNamespace="urn:orders:types" elementFormDefault="qualified" xmlns:x="urn:orders:types"
    xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="State">
    <xs:restriction base="xs:string"><xs:enumeration value="open"/><xs:enumeration value="closed"/></xs:restriction>
  </xs:simpleType>
  <xs:complexType name="Customer">
    <xs:sequence>
      <xs:element name="name">
        <xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="40"/></xs:restriction></xs:simpleType>
      </xs:element>
      <xs:choice>
        <xs:element name="email" type="xs:string"/>
        <xs:element name="phone" type="xs:string"/>
      </xs:choice>
    </xs:sequence>
  </xs:complexType>
  <xs:complexType name="Line">
    <xs:sequence>
      <xs:element name="amount" type="xs:int"/>
      <xs:element name="note" type="xs:string" minOccurs="0"/>
    </xs:sequence>
    <xs:attribute name="sku" type="xs:string" use="required"/>
  </xs:complexType>
  <xs:complexType name="Lines">
    <xs:sequence><xs:element name="line" type="x:Line" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
  </xs:complexType>
</xs:schema>
`;
}

/** RPC style, SOAP 1.2. */
export function weather(origin: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<w:definitions name="Weather" targetNamespace="urn:weather" xmlns:t="urn:weather"
    xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="${SOAP["1.2"]}" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:message name="In"><w:part name="city" type="xs:string"/><w:part name="day" type="xs:date"/></w:message>
  <w:message name="Out"><w:part name="degrees" type="xs:double"/></w:message>
  <w:portType name="Weather">
    <w:operation name="GetTemperature"><w:input message="t:In"/><w:output message="t:Out"/></w:operation>
  </w:portType>
  <w:binding name="WeatherSoap" type="t:Weather">
    <s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="GetTemperature">
      <s:operation soapAction="urn:weather#GetTemperature"/>
      <w:input><s:body use="literal" namespace="urn:weather"/></w:input>
      <w:output><s:body use="literal" namespace="urn:weather"/></w:output>
    </w:operation>
  </w:binding>
  <w:service name="Weather">
    <w:port name="WeatherPort" binding="t:WeatherSoap"><s:address location="${origin}/weather"/></w:port>
  </w:service>
</w:definitions>
`;
}
