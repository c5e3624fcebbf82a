import { describe, expect, test } from "vitest";
import { parseDocument } from "../documents/parse-document.ts";
import { draftToolFile, type Draft } from "./draft-tool-file.ts";
import { factsOf } from "./read-document.ts";

async function draftOf(text: string, file: string): Promise<Draft> {
  const document = parseDocument(text, "source", file);
  const facts = await factsOf(document);
  return draftToolFile(facts, { api: "shop", documents: { source: { file, sha256: document.sha256 } } });
}

const openApi = (parts: object) =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    paths: { "/orders": { get: {} } },
    ...parts,
  });
const collection = (item: object[], variable: object[] = []) =>
  JSON.stringify({
    info: { name: "Shop", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    variable,
    item: item.map((request, index) => ({ name: `r${index}`, request })),
  });
const page = (host: string) => host.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const wsdl = (
  location: string,
) => `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:t" targetNamespace="urn:t">
<message name="In"/><portType name="P"><operation name="Do"><input message="t:In"/></operation></portType>
<binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Do"><s:operation soapAction="do"/><input><s:body use="literal"/></input></operation></binding>
<service name="S"><port name="O" binding="t:B"><s:address location="${location}"/></port></service></definitions>`;

const FORMATS: Record<string, { file: string; text: (address: string) => string }> = {
  "the base address of a Markdown manual": {
    file: "a.md",
    text: (address) => `# Shop\n\nBase URL: \`${address}\`\n\n## Orders\n\nGET /orders\n\nReturns orders.\n`,
  },
  "a request of a Markdown manual": {
    file: "a.md",
    text: (address) => `# Shop\n\n## Orders\n\n\`\`\`\nGET ${address}/orders\n\`\`\`\n`,
  },
  "a curl command of a Markdown manual": {
    file: "a.md",
    text: (address) => `# Shop\n\n## Orders\n\n\`\`\`sh\ncurl "${address}/orders"\n\`\`\`\n`,
  },
  "an HTML manual": {
    file: "a.html",
    text: (address) =>
      `<html><body><h1>Shop</h1><p>Base URL: ${page(address)}/</p><h2>Orders</h2><p>GET /orders</p></body></html>`,
  },
  "a manual in plain text": {
    file: "a.txt",
    text: (address) => `Shop\n====\n\nBase URL: ${address}/\n\nOrders\n------\n\nGET /orders\n\nReturns orders.\n`,
  },
  "an OpenAPI server": { file: "a.json", text: (address) => openApi({ servers: [{ url: address }] }) },
  "the server of an OpenAPI operation": {
    file: "a.json",
    text: (address) => openApi({ paths: { "/orders": { get: { servers: [{ url: address }] } } } }),
  },
  "a Postman request": {
    file: "a.json",
    text: (address) => collection([{ method: "GET", url: `${address}/orders` }]),
  },
  "a Postman variable": {
    file: "a.json",
    text: (address) => collection([{ method: "GET", url: "{{base}}/orders" }], [{ key: "base", value: address }]),
  },
  "a curl command": { file: "a.sh", text: (address) => `curl '${address}/orders'\n` },
  "the address of a WSDL port": { file: "a.wsdl", text: (address) => wsdl(`${page(address)}/service`) },
};

const HOSTS = [
  "{subdomain}.example.com",
  "{{subdomain}}.example.com",
  "[subdomain].example.com",
  ":subdomain.example.com",
  "$SUBDOMAIN.example.com",
  "${subdomain}.example.com",
  "%SUBDOMAIN%.example.com",
  "YOUR-DOMAIN",
  "your_account.example.com",
  "xxx.example.com",
  "ACCOUNT_NAME.example.com",
  "….example.com",
  "api.example.com:{port}",
];

describe("a part of an address that has to be filled in", () => {
  test.each(Object.entries(FORMATS))(
    "in %s is asked about and never becomes a host (X8)",
    async (_, { file, text }) => {
      const hosts = file === "a.md" ? HOSTS : [...HOSTS, "<sub domain>.example.com", "<subdomain>.example.com"];
      for (const host of hosts) {
        const draft = await draftOf(text(`https://${host}`), file);
        expect(draft.tools, host).toHaveLength(1);
        const addresses = [...draft.text.matchAll(/https?:\/\/[^\s,\]]+/g)].map(([address]) => address);
        const reached = addresses.filter((address) => draft.file?.upstream.allow.includes(address));
        for (const address of reached) expect(new URL(address).hostname, host).toMatch(/\.invalid$/);
        expect(draft.file?.upstream.base, host).toBe("https://api.example.invalid/");
        expect(
          draft.questions.filter(({ about }) => about === "upstream.base"),
          host,
        ).toHaveLength(1);
      }
    },
  );

  test("in the base path is asked about as well", async () => {
    for (const base of ["https://api.example/{version}", "https://api.example/YOUR_ACCOUNT/v1"]) {
      const draft = await draftOf(openApi({ servers: [{ url: base }] }), "a.json");
      expect(draft.file?.upstream.base).toBe("https://api.example.invalid/");
    }
  });

  test("that is a variable with a default is filled with it, and one without is offered its values", async () => {
    const servers = (variable: object) => [{ url: "https://{region}.example.com", variables: { region: variable } }];
    const filled = await draftOf(openApi({ servers: servers({ default: "eu", enum: ["eu", "us"] }) }), "a.json");
    expect(filled.file?.upstream.base).toBe("https://eu.example.com/");
    const open = await draftOf(openApi({ servers: servers({ enum: ["eu", "us"] }) }), "a.json");
    expect(open.file?.upstream.base).toBe("https://api.example.invalid/");
    const [asked] = open.questions.filter(({ about }) => about === "upstream.base");
    expect(asked?.choices?.map(({ answer }) => answer)).toEqual(["https://eu.example.com/", "https://us.example.com/"]);
    for (const value of ["region", "your-region", ""]) {
      const named = await draftOf(openApi({ servers: servers({ default: value }) }), "a.json");
      expect(named.file?.upstream.base).toBe("https://api.example.invalid/");
    }
  });

  test("of one request does not send it to the host of the others", async () => {
    const draft = await draftOf(
      collection([
        { method: "GET", url: "https://api.example/a" },
        { method: "GET", url: "https://api.example/b" },
        { method: "DELETE", url: "{{admin}}/c" },
      ]),
      "a.json",
    );
    const bases = Object.values(draft.file?.tools ?? {}).map(({ request }) => request?.base);
    expect(draft.file?.upstream.base).toBe("https://api.example/");
    expect(bases).toEqual([undefined, undefined, "https://other.example.invalid/"]);
  });

  test("of the address for access tokens is not where the client's secret goes", async () => {
    const flows = { clientCredentials: { tokenUrl: "https://{tenant}.login.example/token", scopes: {} } };
    const draft = await draftOf(
      openApi({
        servers: [{ url: "https://api.example" }],
        security: [{ login: [] }],
        components: { securitySchemes: { login: { type: "oauth2", flows } } },
      }),
      "a.json",
    );
    expect(Object.values(draft.file?.secrets ?? {})[0]?.oauth?.tokenUrl).toBe("https://login.example.invalid/token");
    expect(draft.questions.map(({ ask }) => ask).join("\n")).toContain("{tenant}");
  });
});

type Cut = [what: string, file: string, text: string];

describe("a request that the document does not say completely", () => {
  test.each<Cut>([
    [
      "Markdown",
      "a.md",
      "# P\n\nBase URL: https://api.example/\n\n## All\n\nGET /parcels\n\n## One\n\nDELETE /parcels/#{id}\n",
    ],
    [
      "Markdown, cut at a sign",
      "a.md",
      "# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\nDELETE /parcels/\\\\{id}\n",
    ],
    [
      "Markdown, with dots",
      "a.md",
      "# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\nDELETE /parcels/{a.b#c}\n",
    ],
    ...["/parcels/ {id}", "/parcels / {id}", "/parcels/ <id>", "/parcels / [id]"].flatMap((path): Cut[] => [
      [`Markdown, ${path}`, "a.md", `# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\nDELETE ${path}\n`],
      [
        `a table, ${path}`,
        "a.md",
        `# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\n| Method | Path |\n|---|---|\n| DELETE | ${path} |\n`,
      ],
      [
        `HTML, ${path}`,
        "a.html",
        `<p>Base URL: https://api.example/</p><p>GET /parcels</p><p>DELETE ${page(path)}</p>`,
      ],
      [
        `code, ${path}`,
        "a.md",
        `# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\n\`\`\`\nDELETE ${path} HTTP/1.1\n\`\`\`\n`,
      ],
    ]),
    [
      "HTML, in the next line",
      "a.html",
      "<p>Base URL: https://api.example/</p><p>GET /parcels</p><p>DELETE /parcels/<br>{id}</p>",
    ],
    [
      "curl in Markdown, with a blank",
      "a.md",
      "# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\n```\ncurl -X DELETE https://api.example/parcels/ {id}\n```\n",
    ],
    ["plain text", "a.txt", "P\n=\n\nBase URL: https://api.example/\n\nGET /parcels\n\nDELETE /parcels/#{id}\n"],
    ["OpenAPI", "a.json", openApi({ paths: { "/parcels": { get: {} }, "/parcels/#{id}": { delete: {} } } })],
    [
      "OpenAPI, with dots",
      "a.json",
      openApi({ paths: { "/parcels": { get: {} }, "/parcels/{a.b#c}": { delete: {} } } }),
    ],
    [
      "Postman",
      "a.json",
      collection([
        { method: "GET", url: "https://api.example/parcels" },
        { method: "DELETE", url: "https://api.example/parcels/#{id}" },
      ]),
    ],
    [
      "Postman, as a list",
      "a.json",
      collection([
        { method: "GET", url: "https://api.example/parcels" },
        {
          method: "DELETE",
          url: { raw: "x", host: ["api", "example"], protocol: "https", path: ["parcels", "{{a.b#c}}"] },
        },
      ]),
    ],
    ["curl", "a.sh", "curl https://api.example/parcels\ncurl -X DELETE 'https://api.example/parcels/#{id}'\n"],
    [
      "curl, with dots",
      "a.sh",
      "curl https://api.example/parcels\ncurl -X DELETE 'https://api.example/parcels/{a.b#c}'\n",
    ],
  ])("because its path is cut is asked about and not sent shorter: %s (X5)", async (_, file, text) => {
    const draft = await draftOf(text, file);
    expect(draft.tools.map(({ operation }) => operation)).toEqual(["GET /parcels"]);
    expect(draft.omitted).toMatchObject([{ reason: expect.stringMatching(/uncertain-path|missing-path/) as string }]);
    expect(draft.questions.filter(({ ask }) => ask.startsWith("There is no tool for DELETE"))).toHaveLength(1);
  });

  test.each([
    ["a.md", "DELETE /parcels/<id>", "{id}"],
    ["a.md", "## DELETE /parcels/<parcel id>", "{parcelId}"],
    ["a.md", "**DELETE** https://api.example/parcels/<id>", "{id}"],
    ["a.md", "| Method | Path |\n|---|---|\n| DELETE | /parcels/<id> |", "{id}"],
    ["a.md", "DELETE /parcels/<id>/<item>", "{id}/{item}"],
    ["a.md", "DELETE /parcels/v<version>", "v{version}"],
    ["a.html", "<p>DELETE /parcels/<id></p>", "{id}"],
    ["a.html", "<p>DELETE /parcels/<id>/<item> removes it.</p>", "{id}/{item}"],
    ["a.html", "<p><b>DELETE</b> <span>/parcels/</span><id></p>", "{id}"],
    ["a.html", "<p>DELETE /parcels/<b>new</b></p>", "new"],
    ["a.md", "DELETE /parcels/<b>new</b><br>Removes it.", "new"],
  ])("in %s with a placeholder like a tag is not sent shorter: %s (X5)", async (file, request, end) => {
    const head = { "a.md": "# P\n\nBase URL: https://api.example/\n\nGET /parcels\n\n" }[file];
    const start = head ?? "<h1>P</h1><p>Base URL: https://api.example/</p><p>GET /parcels</p>";
    const draft = await draftOf(`${start}${request}\n`, file);
    expect(draft.tools.map(({ operation }) => operation)).toEqual(["GET /parcels", `DELETE /parcels/${end}`]);
  });

  test.each([
    [
      "Markdown",
      "a.md",
      "# P\n\nBase URL: https://api.example/\n\n## All\n\nGET /parcels\n\n## New\n\nURL: https://api.example/invoices\n\n| field | type |\n|---|---|\n| amount | number |\n",
    ],
    [
      "Postman",
      "a.json",
      collection([
        { method: "GET", url: "https://api.example/parcels" },
        { url: "https://api.example/invoices", body: { mode: "raw", raw: "{}" } },
      ]),
    ],
  ])("because its method is not said is asked about and is not GET: %s (X5)", async (_, file, text) => {
    const draft = await draftOf(text, file);
    expect(draft.tools.map(({ operation }) => operation)).toEqual(["GET /parcels"]);
    expect(draft.omitted).toMatchObject([{ reason: "unknown-method" }]);
    expect(draft.questions.some(({ ask }) => ask.includes("does not say its method"))).toBe(true);
  });

  test("a recorded request without a method is left out", async () => {
    const answer = { status: 200, content: { mimeType: "application/json", text: "{}" } };
    const entry = (request: object) => ({ request, response: answer });
    const entries = [entry({ method: "GET", url: "https://api.example/a" }), entry({ url: "https://api.example/b" })];
    const draft = await draftOf(JSON.stringify({ log: { entries } }), "a.har");
    expect(draft.tools.map(({ operation }) => operation)).toEqual(["GET /a"]);
  });

  test("an address alone is sent with GET, does not count as read, and is asked about", async () => {
    const text = "# P\n\n## Send\n\n```\nhttps://api.example/message?text=hello&to=1\n```\n";
    const { tools, questions } = await draftOf(text, "a.md");
    expect(tools).toMatchObject([{ operation: "GET /message", effect: "write" }]);
    expect(questions.some(({ about }) => about.endsWith(".request.method"))).toBe(true);
  });

  test.each(["-d'{\"a\":1}'", "-sd '{\"a\":1}'", "--data='a=1'", "--json '{}'", "-F a=1"])(
    "a command of a manual with %s is a POST",
    async (data) => {
      const { tools } = await draftOf(
        `# P\n\n## Send\n\n\`\`\`\ncurl https://api.example/message ${data}\n\`\`\`\n`,
        "a.md",
      );
      expect(tools).toMatchObject([{ operation: "POST /message", effect: "write" }]);
    },
  );
});
