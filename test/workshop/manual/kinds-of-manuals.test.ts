import { describe, expect, test } from "vitest";
import type { ApiFacts, OperationFacts, SchemaFacts } from "../../../src/workshop/documents/api-facts.ts";
import { draftManual, repositoryFile, type DraftedManual } from "./manual-draft.ts";

async function manual(name: string): Promise<DraftedManual> {
  return draftManual(repositoryFile(`test/fixtures/workshop/manuals/${name}`), name);
}

function operation(facts: ApiFacts, key: string): OperationFacts {
  const found = facts.operations.find((each) => each.key === key);
  if (!found) throw new Error(`no ${key}, only ${facts.operations.map((each) => each.key).join(", ")}`);
  return found;
}

/** A member by its path, through lists. */
function member(schema: SchemaFacts | undefined, path: string): SchemaFacts | undefined {
  let at = schema;
  for (const step of path.split(".")) {
    while (at?.items) at = at.items();
    at = at?.properties.get(step)?.();
  }
  return at;
}

const bodyOf = ({ body }: OperationFacts) => body?.contents[0]?.schema;
const answerOf = ({ responses }: OperationFacts) => responses[0]?.contents[0]?.schema;
const parameter = ({ parameters }: OperationFacts, name: string) => parameters.find((each) => each.name === name);

/** What must hold for every manual: it compiles, and each field says where it comes from. */
function expectSound({ file, draft, text }: DraftedManual): void {
  expect(draft.omitted).toEqual([]);
  const lines = text.split("\n").length;
  for (const type of Object.values(file.types)) {
    for (const { evidence } of Object.values(type.fields)) {
      for (const place of evidence) expect(Number(/#L(\d+)/.exec(place)?.[1]), place).toBeLessThanOrEqual(lines);
    }
  }
}

describe("X5 manuals of many kinds become drafts", () => {
  test("lists of parameters, objects that are described elsewhere, and curl", async () => {
    const drafted = await manual("payments.md");
    expectSound(drafted);
    const create = operation(drafted.facts, "POST /charges");
    expect(create.body?.contents[0]?.mediaType).toBe("application/x-www-form-urlencoded");
    expect(member(bodyOf(create), "amount")).toMatchObject({ types: ["integer"], minimum: 50 });
    expect(bodyOf(create)?.required).toEqual(new Set(["amount", "currency"]));
    expect(member(answerOf(create), "billing.zip")).toMatchObject({ types: ["string"] });
    expect(operation(drafted.facts, "DELETE /charges/{id}").effect).toBe("destructive");
    expect(drafted.text).not.toContain("sk_");
  });

  test("dotted names, a column of lengths, statuses, and parameters in a column of places", async () => {
    const drafted = await manual("parcels.md");
    expectSound(drafted);
    expect(drafted.file.upstream.base).toBe("https://api.parcel.test/shipping/v2/");
    const create = operation(drafted.facts, "POST /shipments");
    expect(member(bodyOf(create), "shipper.name1")).toMatchObject({ maxLength: 50 });
    expect(member(bodyOf(create), "details.weight")).toMatchObject({ types: ["number"], minimum: 0.1, maximum: 31.5 });
    expect(member(bodyOf(create), "details.services")).toMatchObject({ types: ["array"] });
    expect(create.errors?.flatMap(({ status }) => status)).toEqual([400, 401, 429]);
    const track = operation(drafted.facts, "GET /shipments/{shipmentNo}/events");
    expect(parameter(track, "shipmentNo")).toMatchObject({ in: "path", schema: { minLength: 20, maxLength: 20 } });
    expect(parameter(track, "language")).toMatchObject({ in: "query", schema: { enum: ["de", "en"], default: "de" } });
  });

  test("a gateway with everything in the query string, its password a secret", async () => {
    const drafted = await manual("sms.md");
    expectSound(drafted);
    const send = operation(drafted.facts, "GET /http/send");
    expect(send.parameters.map(({ name }) => name)).toEqual(["to", "text", "flash"]);
    expect(parameter(send, "text")?.schema.maxLength).toBe(160);
    expect(parameter(send, "flash")?.schema.codes?.map(({ value, name }) => [value, name])).toEqual([
      ["1", "flash_message"],
      ["0", "normal_message"],
    ]);
    expect(Object.values(drafted.file.secrets)).toMatchObject([
      { query: { user: "user", password: "password" }, public: ["user"] },
    ]);
  });

  test("a German manual", async () => {
    const drafted = await manual("hotel.md");
    expectSound(drafted);
    const create = operation(drafted.facts, "POST /reservierung");
    expect(member(bodyOf(create), "anreise")).toMatchObject({ format: "date" });
    expect(member(bodyOf(create), "personen")).toMatchObject({ types: ["integer"], minimum: 1, maximum: 6 });
    expect(member(bodyOf(create), "verpflegung")?.codes).toHaveLength(3);
    expect(member(bodyOf(create), "bemerkung")).toMatchObject({ maxLength: 500 });
    expect(bodyOf(create)?.rules?.map(({ that }) => that)).toEqual(["{abreise} > {anreise}"]);
  });

  test("a wiki with indented code and nested lists", async () => {
    const drafted = await manual("tracker.md");
    expectSound(drafted);
    const list = operation(drafted.facts, "GET /issues.json");
    expect(parameter(list, "limit")?.schema).toMatchObject({ types: ["integer"], maximum: 100 });
    expect(member(answerOf(list), "issues.created_on")).toMatchObject({ format: "date-time" });
    expect(member(bodyOf(operation(drafted.facts, "POST /issues.json")), "issue.is_private")).toBeDefined();
    expect(operation(drafted.facts, "DELETE /issues/{id}.json").parameters).toMatchObject([{ name: "id", in: "path" }]);
  });

  test("plain text with aligned columns and form posts", async () => {
    const drafted = await manual("iot.txt");
    expectSound(drafted);
    const relay = operation(drafted.facts, "POST /relay");
    expect(member(bodyOf(relay), "relay")).toMatchObject({ minimum: 1, maximum: 8 });
    expect(member(bodyOf(relay), "state")?.codes?.map(({ name }) => name)).toEqual(["off", "on", "toggle"]);
    expect(member(answerOf(operation(drafted.facts, "GET /inputs")), "inputs.nr")).toBeDefined();
  });

  test("an address with placeholders in its query, a key among them, and a table of codes", async () => {
    const drafted = await manual("weather.md");
    expectSound(drafted);
    const forecast = operation(drafted.facts, "GET /data/2.5/forecast");
    expect(forecast.parameters.map(({ name, required }) => [name, required])).toEqual([
      ["lat", true],
      ["lon", true],
      ["units", false],
      ["cnt", false],
    ]);
    expect(parameter(forecast, "units")?.schema.enum).toEqual(["standard", "metric", "imperial"]);
    expect(parameter(forecast, "cnt")?.schema).toMatchObject({ types: ["integer"], minimum: 1, maximum: 40 });
    expect(member(answerOf(forecast), "list.weather.id")?.codes).toHaveLength(3);
  });

  test("HTML with XML: numbers that begin with 0 stay text", async () => {
    const drafted = await manual("erp.html");
    expectSound(drafted);
    const order = operation(drafted.facts, "POST /orders/import");
    expect(bodyOf(order)?.xml?.name).toBe("Order");
    expect(member(bodyOf(order), "id")).toMatchObject({ xml: { attribute: true }, maxLength: 20 });
    expect(member(bodyOf(order), "Lines.Line.Article")).toMatchObject({ types: ["string"], maxLength: 18 });
    expect(member(bodyOf(order), "Lines.Line.Qty")).toMatchObject({ types: ["number"], exclusiveMinimum: 0 });
    expect(member(bodyOf(order), "Lines.Line")).toMatchObject({ types: ["array"], minItems: 1 });
  });

  test("the text of a bank's PDF: places by titles, paths of lists", async () => {
    const drafted = await manual("bank.txt");
    expectSound(drafted);
    expect(drafted.file.upstream.base).toBe("https://psd2.bank.test/v1/");
    const read = operation(drafted.facts, "GET /accounts/{accountId}/transactions");
    expect(parameter(read, "date-from")).toMatchObject({ in: "query", required: true, schema: { format: "date" } });
    expect(parameter(read, "Consent-ID")).toMatchObject({ in: "header" });
    expect(member(answerOf(read), "transactions.amount")).toMatchObject({ types: ["number"] });
  });

  test("the README of a small tool: commands and their output", async () => {
    const drafted = await manual("queue.md");
    expectSound(drafted);
    expect(drafted.facts.operations.map(({ key, summary }) => [key, summary])).toEqual([
      ["POST /jobs", "Put a job"],
      ["GET /jobs/{jobId}", "Get a job"],
    ]);
    expect(member(bodyOf(operation(drafted.facts, "POST /jobs")), "payload.to")).toBeDefined();
    expect(member(answerOf(operation(drafted.facts, "GET /jobs/{jobId}")), "state")).toBeDefined();
  });
});

describe("X5 a manual of a JSON API that has samples for half of its requests", () => {
  test("all requests, fields, types, limits, codes and errors are found", async () => {
    const drafted = await manual("library.md");
    expectSound(drafted);
    const { facts } = drafted;
    expect(facts.operations.map(({ key }) => key)).toEqual([
      "GET /titles",
      "GET /titles/{isbn}",
      "POST /loans",
      "POST /loans/{loanId}/return",
      "DELETE /reservations/{reservationId}",
    ]);
    expect(drafted.file.upstream.base).toBe("https://lending.library.test/api/v3/");
    expect(Object.values(drafted.file.secrets)).toMatchObject([{ headers: { "X-Branch-Token": "x-branch-token" } }]);
    const find = operation(facts, "GET /titles");
    expect(parameter(find, "q")).toMatchObject({ required: true, schema: { minLength: 3 } });
    expect(parameter(find, "size")?.schema).toMatchObject({ types: ["integer"], minimum: 1, maximum: 50, default: 20 });
    expect(parameter(find, "language")?.schema.codes?.map(({ name }) => name)).toEqual([
      "german",
      "english",
      "hungarian",
    ]);
    expect(member(answerOf(find), "titles.available")).toMatchObject({ types: ["boolean"] });
    expect(member(answerOf(operation(facts, "GET /titles/{isbn}")), "copies.state")?.enum).toEqual([
      "free",
      "lent",
      "lost",
    ]);
    const lend = operation(facts, "POST /loans");
    expect(member(bodyOf(lend), "reader.card")).toMatchObject({ minLength: 8, maxLength: 8, pattern: "^[0-9]{8}$" });
    expect(member(bodyOf(lend), "until")).toMatchObject({ format: "date" });
    expect(member(bodyOf(lend), "purpose")?.codes?.map(({ name }) => name)).toEqual(["private", "school", "research"]);
    expect(member(bodyOf(lend), "notes")).toMatchObject({ maxLength: 120, doubt: expect.stringContaining("TBD") });
    expect(member(answerOf(lend), "due")).toMatchObject({ format: "date" });
    expect(lend.errors?.map(({ say }) => say)).toEqual(["There is no such copy", "The copy is lent already"]);
    expect(operation(facts, "DELETE /reservations/{reservationId}").effect).toBe("destructive");
  });
});
