import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeUp } from "../../../../src/workshop/check/made-up.ts";
import type { ToolFile } from "../../../../src/workshop/file/model/tool-file.ts";
import { AWKWARD_CASES } from "./awkward-services.ts";
import { DOCUMENT_CASES } from "./document-services.ts";
import { importedService, type ImportedService } from "./imported-service.ts";
import { orders, types, weather } from "./services.ts";

/** Installed by: npm ci --prefix test/tools --ignore-scripts */
const TOOLS = resolve("test/tools/package.json");
const hasSoap = existsSync(resolve("test/tools/node_modules/soap"));
const CORPUS = resolve("../shared/corpus/soap-list_parameter.wsdl");

interface SoapServer {
  on(event: "request", heard: (request: unknown, method: string) => void): void;
}
type Handler = (args: unknown) => unknown;
interface Soap {
  listen(server: Server, options: object): SoapServer;
}

const folder = mkdtempSync(join(tmpdir(), "wsdl-"));
const http = createServer((_, response) => response.writeHead(404).end());
let origin = "";
beforeAll(async () => {
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  const address = http.address();
  origin = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
});
afterAll(async () => {
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
  rmSync(folder, { recursive: true, force: true });
});

/** A service of the independent library at a path; `answer` gets the arguments that it understood. */
function serve(
  path: string,
  wsdl: string,
  names: Names,
  answer: (operation: string, args: unknown) => unknown,
): Promise<unknown> {
  const soap = createRequire(TOOLS)("soap") as Soap;
  const methods: Record<string, Handler> = {};
  for (const name of names.operations) methods[name] = (args) => answer(name, args);
  const services = { [names.service]: { [names.port]: methods } };
  const forceSoap12Headers = names.isSoap12 === true;
  const xml = readFileSync(wsdl, "utf8");
  return new Promise((callback) => {
    soap.listen(http, { path, services, xml, uri: wsdl, forceSoap12Headers, callback });
  });
}

interface Names {
  service: string;
  port: string;
  operations: string[];
  isSoap12?: boolean;
}

async function imported(path: string): Promise<ImportedService> {
  const service = await importedService(path);
  expect(service.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(service.omitted).toEqual([]);
  return service;
}

/** Single values, as texts: the library gives dates as dates and numbers as numbers. */
function leaves(value: unknown): string[] {
  if (value instanceof Date) return [String(value.getTime())];
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, each]) => (key === "$attributes" && !each ? [] : leaves(each)));
  }
  if (value === undefined || value === null || value === "") return [];
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return [String(Date.parse(value))];
  return [String(value as string)];
}

describe.runIf(hasSoap)("X5 an independent SOAP server understands the requests of imported tools", () => {
  test.runIf(existsSync(CORPUS))(
    "all 17 operations of the WSDL of the corpus",
    async () => {
      const { file, runner, tools } = await imported(CORPUS);
      expect(tools.size).toBe(17);
      const heard = new Map<string, unknown>();
      const names = {
        service: "TimesheetV201511Mobile",
        port: "TimesheetV201511MobileSoap",
        operations: [...tools.keys()],
      };
      await serve("/service.svc", CORPUS, names, (operation, args) => {
        heard.set(operation, args);
        return { [`${operation}Result`]: {} };
      });
      await using api = runner(`${origin}/`);
      for (const [operation, tool] of tools) {
        const spec = file.tools[tool];
        const given = visible(file, spec?.input ?? "");
        const result = await api.call(tool, given);
        expect(result.isError, `${operation}: ${JSON.stringify(result.content)}`).not.toBe(true);
        const sent = leaves(given);
        const understood = leaves(heard.get(operation)).filter((text) => !text.startsWith("secret of "));
        expect(understood.toSorted(), operation).toEqual(sent.toSorted());
      }
    },
    60_000,
  );

  const cases = [...DOCUMENT_CASES, ...AWKWARD_CASES].filter(({ calls }) => calls.some(({ understood }) => understood));
  test.each(cases.map((each) => [each.title, each] as const))("%s", async (_, { name, wsdl, version, calls }) => {
    const path = join(folder, `${name}.wsdl`);
    writeFileSync(path, wsdl(origin));
    const { runner, tools } = await imported(path);
    const heard: unknown[] = [];
    const names = { service: name, port: `${name}Port`, operations: [...tools.keys()], isSoap12: version === "1.2" };
    await serve(`/${name}`, path, names, (_operation, args) => {
      heard.push(args);
      return {};
    });
    await using api = runner(`${origin}/`);
    for (const { tool, given, understood } of calls) {
      if (!understood) continue;
      await api.call(tool, given);
      expect(heard.pop(), tool).toMatchObject(understood);
    }
  });

  test("SOAP 1.1 with imported schemas, choices, attributes and lists", async () => {
    writeFileSync(join(folder, "orders.wsdl"), orders(origin));
    writeFileSync(join(folder, "types.xsd"), types());
    const { runner, tools } = await imported(join(folder, "orders.wsdl"));
    let heard: unknown;
    const names = { service: "Orders", port: "OrdersPort", operations: [...tools.keys()] };
    await serve("/orders", join(folder, "orders.wsdl"), names, (_, args) => {
      heard = args;
      return { number: 7, state: "open", lines: { line: [{ attributes: { sku: "A1" }, amount: 2 }] } };
    });
    await using api = runner(`${origin}/`);
    const result = await api.call("place_order", {
      customer: { name: "Ada <&>", email: "ada@example.com" },
      lines: [
        { sku: "A1", amount: 2 },
        { sku: "B2", amount: 1, note: "gift" },
      ],
      giftCard: "none",
    });
    expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
    expect(heard).toMatchObject({
      customer: { name: "Ada <&>", email: "ada@example.com" },
      lines: {
        line: [
          { attributes: { sku: "A1" }, amount: 2 },
          { attributes: { sku: "B2" }, amount: 1, note: "gift" },
        ],
      },
      giftCard: "none",
    });
    expect(result.structuredContent).toMatchObject({ number: 7, state: "open" });
    const both = await api.call("place_order", {
      customer: { name: "A", email: "a@example.com", phone: "1" },
      lines: [],
    });
    expect(JSON.stringify(both.content)).toContain("not both");
  });

  test("SOAP 1.2 in RPC style, with a fault", async () => {
    writeFileSync(join(folder, "weather.wsdl"), weather(origin));
    const { runner, tools } = await imported(join(folder, "weather.wsdl"));
    const heard: unknown[] = [];
    const names = { service: "Weather", port: "WeatherPort", operations: [...tools.keys()], isSoap12: true };
    await serve("/weather", join(folder, "weather.wsdl"), names, (_, args) => {
      heard.push(args);
      if (JSON.stringify(args).includes("Atlantis")) {
        // The library sends what is thrown as a fault.
        // oxlint-disable-next-line no-throw-literal
        throw { Fault: { Code: { Value: "soap:Sender" }, Reason: { Text: "There is no such city" }, statusCode: 500 } };
      }
      return { degrees: 21.5 };
    });
    await using api = runner(`${origin}/`);
    const result = await api.call("get_temperature", { city: "Wien", day: "2026-07-01" });
    expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
    expect(JSON.stringify(heard[0])).toContain("Wien");
    // Its answers put parts into the namespace of the operation, which WS-I R2735 forbids: that is reported.
    expect(result.structuredContent).toMatchObject({
      deviations: [{ problem: expect.stringContaining("urn:weather") }, {}],
    });
    const failed = await api.call("get_temperature", { city: "Atlantis", day: "2026-07-01" });
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain("There is no such city");
  });
});

/** Made-up arguments, without what callers do not give. */
function visible(file: ToolFile, type: string): Record<string, unknown> {
  const fields = file.types[type]?.fields ?? {};
  const value = madeUp(file, type, { input: {} });
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !fields[name]?.hidden && fields[name]?.const === undefined),
  );
}
