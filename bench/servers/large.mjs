import { respond } from "./echo.mjs";

export const TOOLS = 10_000;

/** Answers with lists and results that were written out once: what is measured is the client. */
export function respondWith(pageSize) {
  const pages = toolPages(pageSize);
  const texts = new Map();
  return (message) => {
    const { id, method, params } = message;
    if (method === "tools/list") return answer(id, pages[Number(params?.cursor ?? 0)]);
    if (method !== "tools/call") return respond(message);
    const { bytes } = params.arguments;
    if (!texts.has(bytes)) texts.set(bytes, textResult(bytes));
    return answer(id, texts.get(bytes));
  };
}

/** The answers to `tools/list`, page by page, exactly as they go over the wire. */
export function listAnswers(pageSize) {
  return toolPages(pageSize).map((page, index) => answer(index + 1, page));
}

function answer(id, result) {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

function toolPages(pageSize) {
  const tools = Array.from({ length: TOOLS }, (_, index) => tool(index));
  const pages = [];
  for (let start = 0; start < TOOLS; start += pageSize) {
    const next = start + pageSize < TOOLS ? { nextCursor: String(pages.length + 1) } : {};
    const page = { resultType: "complete", tools: tools.slice(start, start + pageSize), ...next };
    // No time to live: a list that came from a cache would measure nothing.
    pages.push(JSON.stringify({ ...page, ttlMs: 0, cacheScope: "private" }));
  }
  return pages;
}

/** About as long as the tools of public servers are. */
function tool(index) {
  return {
    name: `search_records_${index}`,
    title: `Search records of table ${index}`,
    description: `Finds the records of table ${index} that match a query, newest first, and tells how many there are.`,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words to look for" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 10, description: "How many to return" },
        filter: {
          type: "object",
          properties: { owner: { type: "string" }, state: { type: "string", enum: ["open", "closed", "all"] } },
        },
        fields: { type: "array", items: { type: "string" }, description: "Which fields to return" },
      },
      required: ["query"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  };
}

const LINE = 'Each record has an owner, a state and a "title"; those without one are listed last.\n';

/** A result of so many bytes: one text, as from a tool that reads a file. */
function textResult(bytes) {
  const [head, tail] = ['{"resultType":"complete","content":[{"type":"text","text":"', '"}]}'];
  const line = JSON.stringify(LINE).slice(1, -1);
  const room = bytes - head.length - tail.length;
  const lines = line.repeat(Math.floor(room / line.length));
  return head + lines + ".".repeat(room - lines.length) + tail;
}
