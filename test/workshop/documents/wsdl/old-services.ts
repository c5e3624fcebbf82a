import type { ServiceCase } from "./document-services.ts";
import { envelopeOf } from "./wsdl-writer.ts";

const encoded: ServiceCase = {
  title: "rpc/encoded with structures and arrays",
  name: "stock",
  wsdl: (origin) => `<definitions name = "stock" targetNamespace = "urn:stock"
    xmlns = "http://schemas.xmlsoap.org/wsdl/" xmlns:t = "urn:stock" xmlns:s = "http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xsd = "http://www.w3.org/2001/XMLSchema" xmlns:SOAP-ENC = "http://schemas.xmlsoap.org/soap/encoding/"
    xmlns:wsdl = "http://schemas.xmlsoap.org/wsdl/">
  <types><xsd:schema targetNamespace="urn:stock">
    <xsd:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
    <xsd:complexType name="Item"><xsd:all><xsd:element name="sku" type="xsd:string"/><xsd:element name="amount" type="xsd:int"/></xsd:all></xsd:complexType>
    <xsd:complexType name="Items"><xsd:complexContent><xsd:restriction base="SOAP-ENC:Array">
      <xsd:attribute ref="SOAP-ENC:arrayType" wsdl:arrayType="t:Item[]"/>
    </xsd:restriction></xsd:complexContent></xsd:complexType>
    <xsd:complexType name="Names"><xsd:complexContent><xsd:restriction base="SOAP-ENC:Array">
      <xsd:attribute ref="SOAP-ENC:arrayType" wsdl:arrayType="xsd:string[]"/>
    </xsd:restriction></xsd:complexContent></xsd:complexType>
  </xsd:schema></types>
  <message name="countRequest"><part name="shelf" type="xsd:string"/><part name="items" type="t:Items"/></message>
  <message name="countResponse"><part name="return" type="t:Items"/><part name="names" type="t:Names"/></message>
  <portType name="stock"><operation name="count"><input message="t:countRequest"/><output message="t:countResponse"/></operation></portType>
  <binding name="stockSoap" type="t:stock"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="count"><s:operation soapAction="urn:stock#count"/>
      <input><s:body use="encoded" namespace="urn:stock" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></input>
      <output><s:body use="encoded" namespace="urn:stock" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/></output>
    </operation>
  </binding>
  <service name="stock"><port name="stockPort" binding="t:stockSoap"><s:address location="${origin}/stock"/></port></service>
</definitions>`,
  calls: [
    {
      operation: "count",
      tool: "count",
      given: { shelf: "A", items: [{ sku: "x", amount: 1 }] },
      sent: [
        'encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"',
        '<shelf xmlns="">A</shelf><items xmlns=""><item><sku>x</sku><amount>1</amount></item></items>',
      ],
      understood: { shelf: "A", items: { item: { sku: "x", amount: "1" } } },
      body: `<p:countResponse xmlns:p="urn:stock" e:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/" xmlns:enc="http://schemas.xmlsoap.org/soap/encoding/"><return xsi:type="enc:Array" enc:arrayType="p:Item[1]"><item xsi:type="p:Item"><sku xsi:type="xsd:string">x</sku><amount xsi:type="xsd:int">7</amount></item></return><names enc:arrayType="xsd:string[2]"><item>a</item><item>b</item></names></p:countResponse>`,
      gives: { return: [{ sku: "x", amount: 7 }], names: ["a", "b"] },
    },
  ],
};

const drafts: ServiceCase = {
  title: "a draft of XML Schema, and prefixes that are not declared",
  name: "quotes",
  wsdl: (origin) => `<?xml version="1.0"?>
<!-- A licence stands before many descriptions. -->
<definitions name="quotes" targetNamespace="urn:quotes" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:quotes" xmlns:q="urn:quotes.xsd">
  <types><schema targetNamespace="urn:quotes.xsd" xmlns="http://www.w3.org/2000/10/XMLSchema">
    <element name="Ask"><complexType><all><element name="symbol " type="string"/><element name="day" type="xsd:date"/></all></complexType></element>
    <element name="Price"><complexType><all><element name="price" type="float"/></all></complexType></element>
  </schema></types>
  <message name="Ask"><part name="body" element="q:Ask"/></message>
  <message name="Price"><part name="body" element="q:Price"/></message>
  <portType name="quotes"><operation name="Ask"><input message="t:Ask"/><output message="t:Price"/></operation></portType>
  <binding name="quotesSoap" type="t:quotes"><soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Ask"><soap:operation soapAction="urn:quotes#Ask"/>
      <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
  <service name="quotes"><port name="quotesPort" binding="t:quotesSoap"><soap:address location="${origin}/quotes"/></port></service>
</definitions>`,
  calls: [
    {
      operation: "Ask",
      tool: "ask",
      given: { symbol: "ACME", day: "2026-01-02" },
      sent: ['<symbol xmlns="">ACME</symbol><day xmlns="">2026-01-02</day>'],
      body: `<p:Price xmlns:p="urn:quotes.xsd"><price>1.5</price></p:Price>`,
      gives: { price: 1.5 },
    },
  ],
};

const PONG = `<p:Pong xmlns:p="urn:partial">hello</p:Pong>`;

const partial: ServiceCase = {
  title: "a header, a fault and an answer that are named and not described",
  name: "partial",
  wsdl: (
    origin,
  ) => `<w:definitions name="partial" targetNamespace="urn:partial" xmlns:w="http://schemas.xmlsoap.org/wsdl/"
    xmlns:t="urn:partial" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <w:types><xs:schema targetNamespace="urn:partial"><xs:element name="Ping"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema></w:types>
  <w:message name="Ping"><w:part name="body" element="t:Ping"/></w:message>
  <w:message name="Pong"><w:part name="body" element="t:Pong"/></w:message>
  <w:portType name="partial"><w:operation name="Ping"><w:input message="t:Ping"/><w:output message="t:Pong"/><w:fault name="broken" message="t:Broken"/></w:operation></w:portType>
  <w:binding name="partialSoap" type="t:partial"><s:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="Ping"><s:operation soapAction="urn:partial#Ping"/>
      <w:input><s:header message="t:Ticket" part="ticket" use="literal"/><s:body use="literal"/></w:input><w:output><s:body use="literal"/></w:output></w:operation></w:binding>
  <w:service name="partial"><w:port name="partialPort" binding="t:partialSoap"><s:address location="${origin}/partial"/></w:port></w:service>
</w:definitions>`,
  calls: [
    {
      operation: "Ping",
      tool: "ping",
      given: { text: "hello" },
      sent: ['<text xmlns="">hello</text>'],
      body: PONG,
      gives: { text: envelopeOf("1.1", PONG).text },
    },
  ],
};

/** Descriptions of old or careless programs. */
export const OLD_CASES: ServiceCase[] = [encoded, drafts, partial];
