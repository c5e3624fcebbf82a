import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeUpCall } from "../../../../src/workshop/check/made-up.ts";
import { startFake } from "../../../../src/workshop/fake/fake.ts";
import { AWKWARD_CASES } from "./awkward-services.ts";
import { DOCUMENT_CASES, type ServiceCase } from "./document-services.ts";
import { importedService, type ImportedService } from "./imported-service.ts";
import { weather } from "./services.ts";
import { envelopeOf } from "./wsdl-writer.ts";

const CASES = [...DOCUMENT_CASES, ...AWKWARD_CASES].map((each): [string, ServiceCase] => [each.title, each]);
const folder = mkdtempSync(join(tmpdir(), "wsdl-services-"));
/** A service that answers as it is told. */
let answer = { type: "text/xml", text: "", status: 200 };
let sent = { body: "", path: "" };
const http = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    sent = { body: Buffer.concat(pieces).toString("utf8"), path: request.url ?? "" };
    response.writeHead(answer.status, { "content-type": answer.type }).end(answer.text);
  });
});
let origin = "";
beforeAll(async () => {
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterAll(async () => {
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
  rmSync(folder, { recursive: true, force: true });
});

const known = new Map<string, Promise<ImportedService>>();
function imported({ name, wsdl }: ServiceCase): Promise<ImportedService> {
  const made = known.get(name);
  if (made) return made;
  const path = join(folder, `${name}.wsdl`);
  writeFileSync(path, wsdl(origin));
  const making = importedService(path);
  known.set(name, making);
  return making;
}

describe("X5 the tools of an imported WSDL", () => {
  test.each(CASES)("%s: each operation is a tool that its fake understands", async (_, service) => {
    const { file, tools, omitted, problems, runner } = await imported(service);
    expect(omitted).toEqual([]);
    expect(problems).toEqual([]);
    expect(new Set(tools.keys())).toEqual(new Set(service.calls.map(({ operation }) => operation)));
    await using fake = await startFake(file);
    await using api = runner(fake.url, fake.secrets);
    for (const [tool, { input }] of Object.entries(file.tools)) {
      for (const all of [false, true]) {
        const given = madeUpCall(file, input ?? "", { from: Date.UTC(2026, 0, 1), all });
        const result = await api.call(tool, given);
        expect(result.isError, `${tool} ${JSON.stringify(given)}: ${JSON.stringify(result.content)}`).not.toBe(true);
        expect(result.structuredContent ?? {}).not.toHaveProperty("deviations");
      }
    }
  });

  test.each(CASES)("%s: answers of the service are understood", async (_, service) => {
    const { runner } = await imported(service);
    await using api = runner(`${origin}/`);
    for (const call of service.calls) {
      answer = { ...envelopeOf(service.version ?? "1.1", call.body), status: call.status ?? 200 };
      const result = await api.call(call.tool, call.given);
      for (const piece of call.sent ?? []) expect(sent.body).toContain(piece);
      if (typeof call.gives === "string") {
        expect(result.isError).toBe(true);
        expect(JSON.stringify(result.content)).toContain(call.gives);
      } else {
        expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
        expect(result.structuredContent).toEqual(call.gives);
      }
    }
  });
});

test("the texts of a SOAP 1.2 fault are a list, and nothing is asked about them", async () => {
  const path = join(folder, "weather12.wsdl");
  writeFileSync(path, weather(origin));
  const { text } = await importedService(path);
  expect(text).toContain("Body/Fault/Reason/Text[]");
  expect(text).not.toContain("refers to itself");
});
