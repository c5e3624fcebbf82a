import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cases } from "../../../fixtures/depth.ts";
import { measuredImport } from "../measured-import.ts";
import { wsdlOf } from "./wsdl-writer.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-wsdl-bombs-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

const many = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("");
const schema = (content: string) =>
  `<xs:schema targetNamespace="urn:bomb" elementFormDefault="qualified">${content}</xs:schema>`;
const element = (name: string, content: string) =>
  `<xs:element name="${name}"><xs:complexType>${content}</xs:complexType></xs:element>`;
const sequence = (content: string) => `<xs:sequence>${content}</xs:sequence>`;
const answer = element("out", sequence(`<xs:element name="a" type="xs:int"/>`));
/** A service with one operation whose request has this content. */
const service = (request: string, more = "") =>
  wsdlOf({
    name: "bomb",
    origin: "http://127.0.0.1:1",
    types: schema(`${element("in", request)}${answer}${more}`),
    operations: [{ name: "Do", in: "in", out: "out" }],
  });
const START = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:xs="http://www.w3.org/2001/XMLSchema">`;
const xsd = (content: string) =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:bomb" targetNamespace="urn:bomb">${content}</xs:schema>`;

/** What is refused, with the reason that is given. */
const REFUSED: Record<string, [make: () => string, reason: RegExp]> = {
  "a document type": [
    () => `<!DOCTYPE definitions SYSTEM "http://127.0.0.1:1/x.dtd">${START}</definitions>`,
    /document type/,
  ],
  "entities that double": [
    () => `<!DOCTYPE a [${many(30, (i) => `<!ENTITY e${i} "&e${i + 1};&e${i + 1};">`)}]>${START}&e0;</definitions>`,
    /document type/,
  ],
  "an entity that is not declared": [() => `${START}<documentation>&secrets;</documentation></definitions>`, /entity/],
  "a million elements": [
    () => `${START}<types>${"<a/>".repeat(1_000_000)}</types></definitions>`,
    /more than 150000 elements/,
  ],
  "100,000 levels": [() => `${START}${"<a>".repeat(100_000)}`, /nested deeper than 100/],
  "100,000 attributes": [
    () => `${START}<types ${many(100_000, (i) => `a${i}="" `)}/></definitions>`,
    /more than 200 attributes/,
  ],
};

/** What is read or left out, but not followed without end. */
const BOUNDED: Record<string, [make: () => string, files?: Record<string, string>]> = {
  "an attribute of 30 MB": [() => `${START}<types a="${"x".repeat(30 * 1024 * 1024)}"/></definitions>`],
  "a text of 30 MB": [() => `${START}<documentation>${"x ".repeat(15 * 1024 * 1024)}</documentation></definitions>`],
  "schemas that include each other": [
    () => service(sequence(`<xs:element name="a" type="t:A"/>`), `<xs:include schemaLocation="a.xsd"/>`),
    {
      "a.xsd": xsd(
        `<xs:include schemaLocation="b.xsd"/><xs:complexType name="A"><xs:sequence><xs:element name="b" type="t:B"/></xs:sequence></xs:complexType>`,
      ),
      "b.xsd": xsd(
        `<xs:include schemaLocation="./a.xsd"/><xs:include schemaLocation="x/../b.xsd"/><xs:complexType name="B"><xs:sequence><xs:element name="a" type="t:A" minOccurs="0"/></xs:sequence></xs:complexType>`,
      ),
    },
  ],
  "groups that double": [
    () =>
      service(
        `<xs:group ref="t:g0"/>`,
        many(
          40,
          (i) =>
            `<xs:group name="g${i}">${sequence(`<xs:group ref="t:g${i + 1}"/><xs:group ref="t:g${i + 1}"/>`)}</xs:group>`,
        ) + `<xs:group name="g40">${sequence(`<xs:element name="x" type="xs:int"/>`)}</xs:group>`,
      ),
  ],
  "attribute groups that double": [
    () =>
      service(
        `<xs:attributeGroup ref="t:g0"/>`,
        many(
          40,
          (i) =>
            `<xs:attributeGroup name="g${i}"><xs:attributeGroup ref="t:g${i + 1}"/><xs:attributeGroup ref="t:g${i + 1}"/></xs:attributeGroup>`,
        ) + `<xs:attributeGroup name="g40"><xs:attribute name="x"/></xs:attributeGroup>`,
      ),
  ],
  "types in types that double": [
    () =>
      service(
        sequence(`<xs:element name="a" type="t:T0"/>`),
        many(
          2_000,
          (i) =>
            `<xs:complexType name="T${i}">${sequence(`<xs:element name="a" type="t:T${(i + 1) % 2_000}"/><xs:element name="b" type="t:T${(i + 1) % 2_000}"/>`)}</xs:complexType>`,
        ),
      ),
  ],
  "extensions in a circle and in a long chain": [
    () =>
      service(
        sequence(`<xs:element name="a" type="t:T0"/><xs:element name="c" type="t:C0"/>`),
        many(
          3,
          (i) =>
            `<xs:complexType name="C${i}"><xs:complexContent><xs:extension base="t:C${(i + 1) % 3}">${sequence(`<xs:element name="c${i}" type="xs:int"/>`)}</xs:extension></xs:complexContent></xs:complexType>`,
        ) +
          many(
            1_000,
            (i) =>
              `<xs:complexType name="T${i}"><xs:complexContent><xs:extension base="t:T${i + 1}">${sequence(`<xs:element name="e${i}" type="xs:int"/>`)}</xs:extension></xs:complexContent></xs:complexType>`,
          ),
      ),
  ],
  "a thousand types that extend one": [
    () =>
      service(
        sequence(`<xs:element name="a" type="t:T"/>`),
        `<xs:complexType name="T">${sequence(`<xs:element name="t" type="t:T" minOccurs="0"/>`)}</xs:complexType>` +
          many(
            1_000,
            (i) =>
              `<xs:complexType name="T${i}"><xs:complexContent><xs:extension base="t:T">${sequence(`<xs:element name="e${i}" type="t:T${(i * 7) % 1_000}"/>`)}</xs:extension></xs:complexContent></xs:complexType>`,
          ),
      ),
  ],
  "unions of unions": [
    () =>
      service(
        sequence(`<xs:element name="a" type="t:U0"/>`),
        many(
          40,
          (i) => `<xs:simpleType name="U${i}"><xs:union memberTypes="${`t:U${i + 1} `.repeat(20)}"/></xs:simpleType>`,
        ) +
          `<xs:simpleType name="U40"><xs:restriction base="xs:string"><xs:enumeration value="x"/></xs:restriction></xs:simpleType>`,
      ),
  ],
  "substitutes that stand for each other": [
    () =>
      service(
        sequence(`<xs:element ref="t:s0"/>`),
        many(1_000, (i) => `<xs:element name="s${i}" substitutionGroup="t:s${(i + 1) % 1_000}" type="xs:int"/>`),
      ),
  ],
  "20,000 elements in one type": [
    () => service(sequence(many(20_000, (i) => `<xs:element name="e${i}" type="xs:int"/>`))),
  ],
  "occurrences beyond all numbers": [
    () =>
      service(
        `<xs:sequence maxOccurs="${"9".repeat(400)}"><xs:element name="a" type="xs:int" minOccurs="${"9".repeat(400)}" maxOccurs="1e999"/></xs:sequence>`,
      ),
  ],
};

describe("X5: hostile WSDL is refused or read within 5 s and 200 MB", () => {
  test.for(cases(Object.entries(REFUSED)))("%s is refused", { timeout: 90_000 }, async ([, [make, reason]]) => {
    const { code, cpuMs, mb, stderr } = await measuredImport(folder, "bomb.wsdl", make());
    expect(code, stderr.slice(0, 500)).toBe(3);
    expect(stderr).toMatch(reason);
    expect(cpuMs).toBeLessThan(5_000);
    expect(mb).toBeLessThan(200);
  });

  test.for(cases(Object.entries(BOUNDED)))("%s is bounded", { timeout: 90_000 }, async ([, [make, files = {}]]) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const { code, cpuMs, mb, stderr } = await measuredImport(folder, "bomb.wsdl", make());
    expect([0, 3], stderr.slice(0, 500)).toContain(code);
    expect(cpuMs).toBeLessThan(5_000);
    expect(mb).toBeLessThan(200);
  });
});
