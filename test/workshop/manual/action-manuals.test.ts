import { describe, expect, test } from "vitest";
import { runChecks } from "../../../src/workshop/run-checks.ts";
import { draftManual, repositoryFile, type DraftedManual } from "./manual-draft.ts";

async function manual(name: string): Promise<DraftedManual> {
  const drafted = await draftManual(repositoryFile(`test/fixtures/workshop/manuals/${name}`), name);
  const problems: string[] = [];
  for await (const outcome of runChecks(drafted)) problems.push(...outcome.problems);
  expect(problems).toEqual([]);
  return drafted;
}

/** The line that a place cites. */
function quoted({ text }: DraftedManual, place = ""): string {
  return text.split("\n")[Number(/#L(\d+)/.exec(place)?.[1] ?? 0) - 1] ?? "";
}

function requests({ file }: DraftedManual): unknown {
  return Object.fromEntries(
    Object.entries(file.tools).map(([name, { request }]) => [
      name,
      [request?.method, request?.path, request?.query, request?.body ?? "no body"],
    ]),
  );
}

function effects({ file }: DraftedManual): unknown {
  return Object.fromEntries(Object.entries(file.tools).map(([name, { effect }]) => [name, effect]));
}

describe("X5 manuals of APIs with one address become one tool for each action", () => {
  test("a parameter of the address, headings with the actions, and form fields", async () => {
    const drafted = await manual("couriers.md");
    const { file } = drafted;
    expect(file.upstream.base).toBe("https://partner.parcelway.test/");
    expect(requests(drafted)).toEqual({
      create_order: ["POST", "api.php", { action: { const: "createOrder" } }, "form"],
      get_order: ["POST", "api.php", { action: { const: "getOrder" } }, "form"],
      cancel_order: ["POST", "api.php", { action: { const: "cancelOrder" } }, "form"],
      list_depots: ["POST", "api.php", { action: { const: "listDepots" } }, "form"],
    });
    expect(file.types["CreateOrderInput"]?.fields).toMatchObject({
      receiver: { optional: false, shape: { maxLength: 60 } },
      weight: { shape: { type: "integer", minimum: 1, maximum: 31_500 } },
      service: { optional: true, shape: { codes: { S: "standard", X: "express" } } },
    });
    expect(Object.keys(file.types["GetOrderInput"]?.fields ?? {})).toEqual(["order_id"]);
    expect(Object.keys(file.types["ListDepotsAnswer"]?.fields ?? {})).toEqual(["status", "depots"]);
    expect(quoted(drafted, file.tools["cancel_order"]?.evidence[0])).toContain("cancelOrder");
    expect(quoted(drafted, file.types["CancelOrderInput"]?.fields["reason"]?.evidence[0])).toContain("reason");
    expect(file.secrets["apikey"]).toBeDefined();
  });

  test("a member of JSON bodies, whose parameters are in another member", async () => {
    const drafted = await manual("harbour.md");
    const { file } = drafted;
    expect(requests(drafted)).toEqual({
      berth_search: ["POST", "rpc", {}, "json"],
      berth_book: ["POST", "rpc", {}, "json"],
      booking_cancel: ["POST", "rpc", {}, "json"],
    });
    const { method, params } = file.types["BerthBookBody"]?.fields ?? {};
    expect(method).toMatchObject({ const: "berth.book" });
    expect(quoted(drafted, method?.evidence[0])).toContain("berth.book");
    const inner = params?.shape.kind === "object" ? file.types[params.shape.type]?.fields : {};
    expect(Object.keys(inner ?? {})).toEqual(["berth", "from", "to", "boat"]);
    expect(inner).toMatchObject({ boat: { optional: false, shape: { maxLength: 40 } } });
    expect(effects(drafted)).toEqual({ berth_search: "read", berth_book: "write", booking_cancel: "destructive" });
  });

  test("plain text with numbered names, one of which has no sample; GET does not make a deletion harmless", async () => {
    const drafted = await manual("photos.txt");
    expect(requests(drafted)).toMatchObject({
      lumen_photos_search: [
        "GET",
        "",
        { method: { const: "lumen.photos.search" }, per_page: { field: "per_page" } },
        "no body",
      ],
      lumen_photos_get_info: ["GET", "", { method: { const: "lumen.photos.getInfo" } }, "no body"],
      lumen_photos_delete: [
        "GET",
        "",
        { method: { const: "lumen.photos.delete" }, photo_id: { field: "photo_id" } },
        "no body",
      ],
    });
    expect(drafted.file.upstream.base).toBe("https://api.lumen.test/services/rest/");
    expect(drafted.file.types["LumenPhotosDeleteInput"]?.fields["photo_id"]).toMatchObject({ optional: false });
    expect(effects(drafted)).toMatchObject({ lumen_photos_get_info: "read", lumen_photos_delete: "destructive" });
    expect(drafted.file.tools["lumen_photos_delete"]?.outcomeUnknown).not.toContain("lumen_photos_delete");
  });

  test("a table of commands with their parameters", async () => {
    const drafted = await manual("meters.html");
    expect(requests(drafted)).toMatchObject({
      read: ["GET", "gate", { cmd: { const: "READ" }, meter: { field: "meter" } }, "no body"],
      setname: ["GET", "gate", { cmd: { const: "SETNAME" }, meter: {}, name: {} }, "no body"],
      list: ["GET", "gate", { cmd: { const: "LIST" } }, "no body"],
    });
    expect(effects(drafted)).toEqual({ read: "read", setname: "write", list: "read" });
    expect(drafted.file.tools["setname"]?.description).toBe("Sets the name of a meter.");
  });

  test("JSON-RPC: its version and the id of the call are constants", async () => {
    const call = (method: string, params: object) =>
      `\`\`\`json\n${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n\`\`\``;
    const { file } = await draftManual(`# Lamps

All calls are sent to \`POST https://lamps.test/rpc\`.

## Switch a lamp

${call("lamp.switch", { lamp: 4, on: true })}

## Read the state

${call("lamp.state", { lamp: 4 })}
`);
    expect(Object.keys(file.tools)).toEqual(["switch_lamp", "read_state"]);
    expect(file.types["SwitchLampBody"]?.fields).toMatchObject({
      jsonrpc: { const: "2.0" },
      id: { const: 1 },
      method: { const: "lamp.switch" },
      params: { shape: { kind: "object" } },
    });
  });

  test("a manual with several addresses keeps its requests, also where a body has a member `action`", async () => {
    const { file } = await draftManual(`# Doors

Base URL: \`https://doors.test/v1\`

## Send a command

\`POST /doors/{id}/commands\`

\`\`\`json
{ "action": "open_door" }
\`\`\`

\`\`\`json
{ "action": "close_door" }
\`\`\`

## List doors

\`GET /doors\`
`);
    expect(Object.keys(file.tools)).toEqual(["send_command", "list_doors"]);
  });
});
