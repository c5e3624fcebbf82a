import type { ContentFacts, ResponseFacts } from "../api-facts.ts";
import { inferSchema, plainSchema, type Sample } from "../inferred-schema.ts";
import { jsonSample } from "../text/json-sample.ts";
import { headersOf } from "./postman-headers.ts";
import type { PostmanPart } from "./postman-part.ts";

/** Of one request. Further ones rarely show another member. */
const MOST_RESPONSES = 200;

/** The saved responses of a request, by status. Their bodies are examples, of which the schema is inferred. */
export function readResponses(list: PostmanPart): ResponseFacts[] {
  const byStatus = new Map<string, PostmanPart[]>();
  for (const response of list.items().slice(0, MOST_RESPONSES)) {
    const code = Number(response.part("code").text());
    if (!Number.isInteger(code) || code < 100 || code > 599) continue;
    byStatus.set(String(code), [...(byStatus.get(String(code)) ?? []), response]);
  }
  return [...byStatus].map(([status, responses]) => {
    const [first] = responses;
    const name = first?.part("name").text();
    return {
      status,
      ...(name !== undefined && name !== "" && { description: name }),
      contents: contentsOf(responses),
      headers: [],
      evidence: first?.evidence ?? list.evidence,
    };
  });
}

function contentsOf(responses: readonly PostmanPart[]): ContentFacts[] {
  const byType = new Map<string, { samples: Sample[]; evidence: string }>();
  for (const response of responses) {
    const body = response.part("body");
    const text = body.text() ?? "";
    if (text.trim() === "") continue;
    const header = headersOf(response.part("header")).find(({ name }) => name.toLowerCase() === "content-type");
    const sample = jsonSample(text);
    const named = header?.value.split(";", 1)[0]?.trim().toLowerCase();
    const type = named !== undefined && named !== "" ? named : sample ? "application/json" : "text/plain";
    const isJson = sample !== undefined && /json/.test(type);
    const known = byType.get(type) ?? { samples: [], evidence: body.evidence };
    if (isJson) known.samples.push({ value: sample.value, evidence: body.evidence });
    byType.set(type, known);
  }
  return [...byType].map(
    ([
      mediaType,
      {
        samples: [first, ...others],
        evidence,
      },
    ]) => ({
      mediaType,
      schema: first ? inferSchema([first, ...others]) : plainSchema(evidence),
      examples: [],
      encoding: {},
      evidence,
    }),
  );
}
