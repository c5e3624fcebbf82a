import { describe, expect, test } from "vitest";
import { draftManual } from "./manual-draft.ts";

const TICKETS = `# Deskly API

Base URL: \`https://desk.test/api/v2\`

## Tickets

### List tickets

\`GET /tickets\`

Returns tickets, newest first.

| Parameter | Type | Required | Description |
|---|---|---|---|
| status | string | no | One of \`open\`, \`closed\` |
| per_page | integer | no | Items per page, 1-100, default 25 |

Response:

\`\`\`json
{ "tickets": [{ "id": 4711, "status": "open" }], "total": 1 }
\`\`\`
`;

const MESSAGES = `SMSWAY HTTP GATEWAY
===================

1. SENDING A MESSAGE

Call the following URL with GET:

    https://gw.smsway.test/http/send?user=USER&pass=PASS&to=NUMBER&text=TEXT

Parameters

    user      your user name (required)
    pass      your password (required)
    to        number of the receiver in international format without +, up to 15 digits (required)
    text      the message, URL encoded, at most 160 characters (required)
    flash     1 = flash message, 0 = normal (optional, default 0)

2. BALANCE

    GET https://gw.smsway.test/http/balance?user=USER&pass=PASS
`;

describe("X5 small manuals, as people write them", () => {
  test("a sentence about what is returned does not make parameters parts of the answer", async () => {
    const { file } = await draftManual(TICKETS);
    expect(Object.keys(file.tools["list_tickets"]?.request?.query ?? {})).toEqual(["status", "per_page"]);
    expect(Object.keys(file.types["ListTicketsAnswer"]?.fields ?? {})).toEqual(["tickets", "total"]);
  });

  test("an address alone in a line of plain text is a request, and the list below it has its parameters", async () => {
    const { file } = await draftManual(MESSAGES, "sms.txt");
    expect(Object.keys(file.tools)).toEqual(["sending_message", "balance"]);
    const { to, text, flash } = file.types["SendingMessageInput"]?.fields ?? {};
    expect(to).toMatchObject({ optional: false, shape: { maxLength: 15 } });
    expect(text).toMatchObject({ optional: false, shape: { maxLength: 160 } });
    expect(flash).toMatchObject({ optional: true, shape: { codes: { "0": "normal", "1": "flash_message" } } });
    expect(file.tools["sending_message"]?.description).not.toContain("https:");
  });

  test("what sends something is a write, also with GET, so that it is never repeated", async () => {
    const { file } = await draftManual(MESSAGES, "sms.txt");
    expect(file.tools["sending_message"]).toMatchObject({ effect: "write" });
    expect(file.tools["balance"]).toMatchObject({ effect: "read" });
  });

  test("a short sentence describes a tool, and a sentence about a failure does not", async () => {
    const { file } = await draftManual(`# Bakery API

Base URL: \`https://bakery.test/v2\`

## Place an order

\`POST /orders\`

Orders bread for a day.

| Field | Type | Required | Description |
|---|---|---|---|
| day | date | yes | The day of collection |

Returns 409 if the bread is sold out.

## Cancel an order

\`DELETE /orders/{id}\`

Returns 404 if there is no such order.
`);
    expect(file.tools["place_order"]?.description).toBe("Orders bread for a day.");
    expect(file.tools["cancel_order"]?.description).not.toContain("404");
    expect(file.tools["cancel_order"]?.errors).toMatchObject([{ status: [404] }]);
  });
});
