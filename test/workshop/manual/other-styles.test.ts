import { describe, expect, test } from "vitest";
import { draftManual, type DraftedManual } from "./manual-draft.ts";
import { scoreOf, type ExpectedManual } from "./expected-manual.ts";

const FLEET = `            FLEET DATA LINK
            ===============

1  Introduction
---------------

Requests and responses are XML.

2  Positions (getPositions)
---------------------------

    POST https://fleet.test/service/getPositions

2.1  Request

+-------------------+----------+-----+------------------------------+
| Element/Attribute | Type     | Occ | Description                  |
+-------------------+----------+-----+------------------------------+
| vehicle           | string   | 1-n | number plate, at most 12     |
|                   |          |     | characters                   |
| since             | dateTime | 0-1 | only after this time         |
| detail            | integer  | 0-1 | level of detail, see table 1 |
+-------------------+----------+-----+------------------------------+

    <getPositions>
      <vehicle>W-1234A</vehicle>
      <detail>2</detail>
    </getPositions>

Table 1: Level of detail

+-------+--------------------+
| Value | Meaning            |
+-------+--------------------+
| 0     | Last position only |
| 2     | All positions      |
+-------+--------------------+

2.2  Response

    <result code="0" message="OK"/>
`;

const CLOUD = `Device Cloud
============

Base URL: \`\`https://cloud.test/api\`\`

Devices
-------

.. http:get:: /devices/(int:device_id)

   Returns one device.

   :param device_id: number of the device
   :type device_id: int
   :query lang: \`\`en\`\` or \`\`de\`\`, default \`\`en\`\`
   :statuscode 200: no error
   :statuscode 404: there is no such device

   **Example response**:

   .. sourcecode:: http

      HTTP/1.1 200 OK
      Content-Type: application/json

      { "device_id": 12, "online": true }

.. http:post:: /devices

   :<json string name: name of the device,
      at most 40 characters
   :<json int interval: seconds, 10 to 3600, default 60
   :>json int device_id: number of the new device
   :status 409: the name is taken
`;

const CLINIC = `# Clinic API

Base URL: \`https://clinic.test/api/\`

| Authentication | HTTP header \`X-Clinic-Key\` |
|---|---|
| Format | JSON |

## Book

\`POST /appointments\`

\`\`\`text
+------------+---------+----------+-------------------------------+
| Field      | Type    | Required | Rules                         |
+============+=========+==========+===============================+
| patient_id | integer | yes      | numbered, starting at 1       |
+------------+---------+----------+-------------------------------+
| kind       | integer | yes      | 1 = first visit, 2 = video    |
+------------+---------+----------+-------------------------------+
| until      | date    | no       | at most 28 days after today   |
+------------+---------+----------+-------------------------------+
| minutes    | integer | no       | 20 if omitted                 |
+------------+---------+----------+-------------------------------+
| currency   | string  | no       | EUR or GBP, default EUR       |
+------------+---------+----------+-------------------------------+
\`\`\`

Errors:

- \`400\` – a field is wrong
- \`409\` – the time is taken

## List

\`GET /appointments\`

Query parameters:

- \`state\` (string) – see [States](#states)
- \`room\` (string)
  - \`low\` – on the ground floor
  - \`high\` – upstairs

## States

| State | Meaning |
|---|---|
| \`open\` | not yet held |
| \`held\` | over |
`;

function missing(drafted: DraftedManual, expected: ExpectedManual): string[] {
  return scoreOf(drafted, expected).missing;
}

const asked = ({ draft }: DraftedManual) => draft.questions.map(({ ask }) => ask).join("\n");

describe("X5 manuals in further styles", () => {
  test("drawn tables of a plain text, below numbered sections of underlined chapters", async () => {
    const drafted = await draftManual(FLEET, "fleet.txt");
    const expected = {
      base: "https://fleet.test/",
      operations: {
        "POST /service/getPositions": [
          "body.vehicle: array, required, minItems 1",
          "body.vehicle[]: string, maxLength 12",
          "body.since: date-time, optional",
          "body.detail, optional",
          "answer.code",
          "answer.message: string",
        ],
      },
      codes: { "POST /service/getPositions body.detail": ["0", "2"] },
    };
    expect(missing(drafted, expected)).toEqual([]);
  });

  test("requests as Sphinx describes them: directives with lists of fields", async () => {
    const drafted = await draftManual(CLOUD, "cloud.rst");
    const expected = {
      base: "https://cloud.test/api/",
      operations: {
        "GET /devices/{device_id}": [
          "path.device_id: integer, required",
          "query.lang: string, default en",
          "answer.device_id: integer",
          "answer.online: boolean",
        ],
        "POST /devices": [
          "body.name: string, maxLength 40",
          "body.interval: integer, minimum 10, maximum 3600, default 60",
          "answer.device_id: integer",
        ],
      },
      codes: { "GET /devices/{device_id} query.lang": ["en", "de"] },
      errors: { "GET /devices/{device_id}": [404], "POST /devices": [409] },
    };
    expect(missing(drafted, expected)).toEqual([]);
  });

  test("drawn tables in code of Markdown, credentials in a table, lists of values and of statuses", async () => {
    const drafted = await draftManual(CLINIC);
    const expected = {
      base: "https://clinic.test/api/",
      secrets: ["header X-Clinic-Key"],
      operations: {
        "POST /appointments": [
          "body.patient_id: integer, required, minimum 1",
          "body.kind: integer, required",
          "body.until: date, optional",
          "body.minutes: integer, optional, default 20",
          "body.currency: string, optional, default EUR",
        ],
        "GET /appointments": ["query.state: string", "query.room: string"],
      },
      codes: {
        "POST /appointments body.kind": ["1", "2"],
        "POST /appointments body.currency": ["EUR", "GBP"],
        "GET /appointments query.state": ["open", "held"],
        "GET /appointments query.room": ["low", "high"],
      },
      errors: { "POST /appointments": [400, 409] },
    };
    expect(missing(drafted, expected)).toEqual([]);
    expect(asked(drafted)).toContain('The manual says: "at most 28 days after today"');
  });

  test("a sample of a failure is not the answer, and an id in a path is a parameter that is asked about", async () => {
    const drafted = await draftManual(`# Shows

## Delete an episode

\`\`\`bash
curl -X DELETE https://shows.test/v2/episodes/9002 -H "X-Api-Key: $API_KEY"
\`\`\`

If the episode does not exist:

\`\`\`json
{ "code": "not_found", "text": "There is no episode 9002." }
\`\`\`

## Get an episode

\`\`\`bash
curl https://shows.test/v2/shows -H "X-Api-Key: $API_KEY"
\`\`\`

\`\`\`json
{ "error": { "code": "busy" } }
\`\`\`
`);
    for (const { response } of Object.values(drafted.file.tools)) expect(response.type).toBeUndefined();
    expect(asked(drafted)).toContain("The manual only shows /episodes/9002: what looks like an id");
  });

  test("a sentence and a sample that name the same credential are one", async () => {
    const drafted = await draftManual(`# Gym

Send \`Authorization: Bearer <token>\` with each request.

\`\`\`bash
curl https://gym.test/v1/members -H "Authorization: Bearer YOUR_TOKEN"
\`\`\`
`);
    expect(Object.keys(drafted.file.secrets)).toHaveLength(1);
    expect(asked(drafted)).not.toContain("also allows");
  });

  test("codes of errors in a table with a title in two languages belong to the code of the error", async () => {
    const { file } = await draftManual(`# Buchung

## A) Buchung – booking

\`POST https://alp.test/xml/booking\`

### Anfrage

\`\`\`xml
<BookingRequest><Reference>AB-1</Reference></BookingRequest>
\`\`\`

### Antwort

\`\`\`xml
<BookingResponse><Error code="203">No availability</Error></BookingResponse>
\`\`\`

## Fehler / errors

| Code | Bedeutung |
|---|---|
| 101 | Unbekanntes Hotel |
| 203 | Keine Verfügbarkeit |
`);
    expect(Object.keys(file.tools)).toEqual(["buchung_booking"]);
    const codes = Object.values(file.types).flatMap(({ fields }) =>
      Object.values(fields).flatMap(({ shape }) => (shape.kind === "scalar" && shape.codes ? [shape.codes] : [])),
    );
    expect(codes).toEqual([{ 101: "unbekanntes_hotel", 203: "keine_verfugbarkeit" }]);
  });
});
