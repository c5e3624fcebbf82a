import { describe, expect, test } from "vitest";
import { fileOf } from "../../../../test/fixtures/tool-file.ts";
import { codecFor } from "../codec-for.ts";

const XSI = "http://www.w3.org/2001/XMLSchema-instance";

const file = fileOf(
  {
    Zoo: {
      xml: { element: "Zoo", namespace: "urn:zoo" },
      fields: {
        animals: { wire: "animal[]", list: "Animal" },
        keeper: { type: "Keeper", nullable: true, optional: true },
        visitors: { type: "integer", nullable: true },
        note: { wire: "none:note", optional: true },
      },
    },
    Animal: {
      xml: { namespace: "urn:zoo" },
      fields: { type: { wire: "@xsi:type", codes: { "z:Dog": "Dog", "c:Cat": "Cat" } }, name: {} },
    },
    Keeper: { xml: { namespace: "urn:zoo" }, fields: { name: {} } },
  },
  { z: "urn:zoo", c: "urn:cats", none: "" },
);
const zoo = codecFor(file, "Zoo", "xml");

describe("attributes of XML Schema in messages", () => {
  test("the name in xsi:type is understood whatever prefix the service gives its namespace", () => {
    const read = zoo.decode(
      `<Zoo xmlns="urn:zoo" xmlns:i="${XSI}"><animal i:type="Dog"><name>Rex</name></animal>` +
        `<animal xmlns:feline="urn:cats" i:type=" feline:Cat "><name>Tom</name></animal><visitors>3</visitors></Zoo>`,
    );
    expect(read.deviations).toEqual([]);
    expect(read.value).toMatchObject({
      animals: [
        { type: "Dog", name: "Rex" },
        { type: "Cat", name: "Tom" },
      ],
    });
  });

  test("a prefix of the file that means another namespace in the answer is not taken for its own", () => {
    const { deviations } = zoo.decode(
      `<Zoo xmlns="urn:zoo" xmlns:i="${XSI}" xmlns:z="urn:cats"><animal i:type="z:Dog"><name>Rex</name></animal><visitors>3</visitors></Zoo>`,
    );
    expect(deviations).toMatchObject([{ path: "animals[0].type", received: "c:Dog" }]);
  });

  test("xsi:nil is null in both directions, for single values and for objects", () => {
    const value = { animals: [], keeper: null, visitors: null };
    const xml = String(zoo.encode(value));
    expect(xml).toContain(`nil="true"`);
    expect(xml).toMatch(/<keeper [^>]*nil="true"/);
    expect(zoo.decode(xml)).toEqual({ value, deviations: [] });
  });

  test("an element without a namespace is written and read without one", () => {
    const xml = String(zoo.encode({ animals: [], visitors: 1, note: "hello" }));
    expect(xml).toContain(`<note xmlns="">hello</note>`);
    expect(zoo.decode(xml).value).toMatchObject({ note: "hello" });
    const qualified = zoo.decode(`<Zoo xmlns="urn:zoo"><visitors>1</visitors><note>hello</note></Zoo>`);
    expect(qualified.value).not.toHaveProperty("note");
    expect(qualified.deviations).toMatchObject([{ problem: expect.stringContaining("urn:zoo") }]);
  });

  test("attributes that say how a SOAP message is written are not deviations", () => {
    const { deviations } = zoo.decode(
      `<Zoo xmlns="urn:zoo" xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:c="http://schemas.xmlsoap.org/soap/encoding/"` +
        ` e:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/" c:arrayType="x[0]" xml:lang="de"><visitors c:id="1">1</visitors></Zoo>`,
    );
    expect(deviations).toEqual([]);
  });
});
