import { descriptions, toolFiles } from "./files.mjs";

/**
 * What is tried, by kind. A kind makes cases: `name`, `body` (the bytes that JSON.parse is measured with) and `run`, which
 * sends them and resolves when they are answered. All sizes are within the limits of the program.
 */
export const KINDS = { requests, answers, files, documents };

const MB = 1024 * 1024;
/** Just below the limit of a request's body, with its envelope. */
const REQUEST_BYTES = 4 * MB - 16 * 1024;
/** Just below the limit of an answer. */
const ANSWER_BYTES = 15 * MB;
/** Just below the limit of values in a request or an answer. */
const VALUES = 195_000;
const MODERN = "2026-07-28";

/** A value of about so many bytes, and at most so many values. `fill(index)` gives the text of an item. */
function list(fill, { bytes, values = VALUES, open = "[", close = "]" }) {
  const items = [];
  let length = 2;
  for (let index = 0; index < values; index++) {
    const item = fill(index);
    length += item.length + 1;
    if (length > bytes) break;
    items.push(item);
  }
  return `${open}${items.join(",")}${close}`;
}

/** Members of the type All of the tool file, right and wrong, as JSON texts. `size` says how many bytes and values. */
function members(random, size) {
  const few = (share) => ({ ...size, values: Math.floor(size.values / share) });
  const pad = (length) => "x".repeat(length);
  const row = (index) => `{"id":${index + 1},"name":"row ${index}","price":1.5,"tags":["a","b"]}`;
  const nested = (depth) => `${'{"id":1,"name":"a","inner":'.repeat(depth)}{"id":1,"name":"a"}${"}".repeat(depth)}`;
  const object = (fill, of = size) => list(fill, { ...of, open: "{", close: "}" });
  return {
    "right integers": ["ids", list((index) => String(index), size)],
    "integers of one digit": ["ids", list(() => "1", size)],
    "texts for integers": ["ids", list(() => '"1"', size)],
    "nulls for integers": ["ids", list(() => "null", size)],
    "objects for integers": ["ids", list(() => "{}", size)],
    "lists for integers": ["ids", list(() => "[]", size)],
    "fractions for integers": ["ids", list((index) => `${index}.5`, size)],
    "large integers": ["ids", list((index) => `9007199254740${993 + (index % 7)}`, size)],
    "long numbers": ["ids", list(() => `1.${"3".repeat(20)}`, size)],
    "exact numbers": ["exact", list((index) => `"12345678901234567890.${index}"`, size)],
    "unique items": ["unique", list((index) => String(index), size)],
    "repeated items": ["unique", list((index) => String(index >> 1), size)],
    "texts of a pattern": ["texts", list(() => '"abab"', size)],
    "texts that miss a pattern": ["texts", list(() => '"abcb"', size)],
    "long texts of a pattern": ["texts", list(() => `"${"ab".repeat(4000)}"`, size)],
    "long texts that miss a pattern": ["texts", list(() => `"${"ab".repeat(4000)}c"`, size)],
    "right rows": ["rows", list(row, few(7))],
    "wrong rows": ["rows", list(() => '{"id":"x","name":"A","price":-1,"kind":"z","tags":[1],"extra":2}', few(8))],
    "empty rows": ["rows", list(() => "{}", size)],
    "rows that break a rule": ["rows", list((index) => `{"id":${1e9 + index},"name":"a"}`, few(3))],
    "rows of unknown members": ["rows", list((index) => `{"id":1,"name":"a","m${index}":1}`, few(4))],
    "one row of unknown members": ["rows", `[${object((index) => `"m${index}":1`)}]`],
    "repeated members": ["rows", `[${object(() => '"id":1')}]`],
    "deep rows": ["rows", list(() => nested(30), few(95))],
    "one deep row": ["rows", `[${nested(110)}]`],
    "right shapes": [
      "shapes",
      list((index) => (index % 2 ? '{"kind":"circle","radius":1}' : '{"kind":"square","side":2}'), few(3)),
    ],
    "wrong shapes": ["shapes", list(() => '{"kind":"circle","side":"x"}', few(3))],
    "shapes of no kind": ["shapes", list(() => '{"kind":"star"}', few(2))],
    "right map": ["map", object((index) => `"k${index}":${index}`)],
    "wrong map": ["map", object((index) => `"k${index}":"v"`)],
    "long names": ["map", object((index) => `"${pad(5000)}${index}":1`)],
    "right days": ["days", list(() => '"2026-05-02"', size)],
    "wrong days": ["days", list(() => '"2026-02-31"', size)],
    "one long text": ["text", `"${pad(size.bytes - 100)}"`],
    "one long text of escapes": ["text", `"${"\\u00e9".repeat(Math.floor(size.bytes / 6) - 20)}"`],
    "one long text of emoji": ["text", `"${"😀".repeat(Math.floor(size.bytes / 4) - 40)}"`],
    "a long text for a list": ["ids", `"${pad(size.bytes - 100)}"`],
    "a number of many digits": ["ids", `[${"9".repeat(size.bytes - 100)}]`],
    anything: ["any", list((index) => `{"a":[${index},{"b":null}]}`, few(6))],
    "deep anything": ["any", `${"[".repeat(100)}${"]".repeat(100)}`],
    "many unknown members": ["any", object((index) => `"é${index}":"${index}"`)],
    "a mixture": ["any", mixture(random, { ...size, bytes: size.bytes / 4 })],
  };
}

/** Random JSON: all kinds of values, names and nesting. */
function mixture(random, { bytes, values }) {
  let left = values;
  const value = (depth) => {
    left--;
    const kind = Math.floor(random() * (depth > 20 ? 5 : 8));
    const word = () => String.fromCodePoint(97 + Math.floor(random() * 26)).repeat(1 + Math.floor(random() * 12));
    if (kind === 0) return String(Math.floor(random() * 1e6));
    if (kind === 1) return String(random() * 10 ** (random() * 40 - 20));
    if (kind === 2) return random() < 0.5 ? "true" : "null";
    if (kind < 5) return JSON.stringify(`${word()} "é\n😀`);
    const count = left > 0 ? Math.floor(random() * 6) : 0;
    const items = Array.from({ length: count }, () => value(depth + 1));
    return kind === 7 ? `{${items.map((item) => `"${word()}":${item}`).join(",")}}` : `[${items.join(",")}]`;
  };
  const items = [];
  let length = 0;
  while (length < bytes && left > 0) {
    const item = value(0);
    length += item.length + 1;
    items.push(item);
  }
  return `[${items.join(",")}]`;
}

function call(tool, args) {
  return request("tools/call", `"name":${JSON.stringify(tool)},"arguments":${args}`, tool);
}

function request(method, params, name) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  };
  const body = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":{${params}${params === "" ? "" : ","}"_meta":${JSON.stringify(meta)}}}`;
  const headers = { "mcp-method": method, ...(name !== undefined && { "mcp-name": name }) };
  return { body: Buffer.from(body), headers };
}

/** Posts to an endpoint of the gateway; gives what came. */
async function post(world, path, { body, headers }) {
  const response = await fetch(`${world.gateway.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": MODERN,
      authorization: `Bearer ${world.key}`,
      ...headers,
    },
    body,
  });
  return `${response.status} ${await response.text()}`;
}

/** Large arguments of tools of a tool file and of a server, and other large requests. */
function* requests({ random }) {
  const size = { bytes: REQUEST_BYTES, values: VALUES };
  const made = (path, sent) => ({ body: sent.body, run: (world) => post(world, path, sent) });
  for (const [name, [member, json]] of Object.entries(members(random, size))) {
    yield { name: `look: ${name}`, ...made("/servers/bounds/mcp", call("look", `{"${member}":${json}}`)) };
    yield { name: `change: ${name}`, ...made("/servers/bounds/mcp", call("change", `{"${member}":${json}}`)) };
    yield { name: `echo: ${name}`, ...made("/mcp", call("far__echo", `{"text":"","${member}":${json}}`)) };
  }
  for (const name of ["right integers", "texts of a pattern", "one long text"]) {
    const [member, json] = members(random, size)[name];
    yield { name: `fill: ${name}`, ...made("/servers/bounds/mcp", call("fill", `{"${member}":${json}}`)) };
  }
  const names = list((index) => `"n${index}":1`, { ...size, open: "{", close: "}" });
  yield { name: "look: many arguments", ...made("/servers/bounds/mcp", call("look", names)) };
  yield {
    name: "look: a list of arguments",
    ...made(
      "/servers/bounds/mcp",
      call(
        "look",
        list(() => "1", size),
      ),
    ),
  };
  yield { name: "tools/list: much _meta", ...made("/mcp", request("tools/list", `"other":${names}`)) };
  yield { name: "an unknown method", ...made("/mcp", request("x".repeat(1000), `"other":${names}`)) };
  yield {
    name: "a long URI",
    ...made("/mcp", request("resources/read", `"uri":"x:${"y".repeat(size.bytes)}"`, "x:y")),
  };
  yield {
    name: "more values than allowed",
    ...made("/mcp", call("far__echo", `{"text":${list(() => "1", { bytes: size.bytes, values: 1e7 })}}`)),
  };
  yield {
    name: "more members than allowed",
    ...made(
      "/mcp",
      call(
        "far__echo",
        list(() => '"":1', { bytes: size.bytes, values: 1e7, open: "{", close: "}" }),
      ),
    ),
  };
  yield { name: "not JSON", ...made("/mcp", { body: Buffer.from("[".repeat(size.bytes)), headers: {} }) };
  yield {
    name: "half a JSON",
    ...made("/mcp", { body: call("look", `{"ids":${list(() => "1", size)}`).body.subarray(0, -200), headers: {} }),
  };
}

/** Large answers of the API behind the tool file and of an MCP server. */
function* answers({ random }) {
  const ask = async (world, tool, answer) => {
    world.upstream.answer = answer;
    const isFar = tool === "far__echo";
    return post(world, isFar ? "/mcp" : "/servers/bounds/mcp", call(tool, isFar ? '{"text":"a"}' : "{}"));
  };
  const made = (tool, body, type) => ({ body: Buffer.from(body), run: (world) => ask(world, tool, { type, body }) });
  const many = { bytes: ANSWER_BYTES, values: VALUES };
  for (const [name, [member, json]] of Object.entries(members(random, many))) {
    for (const tool of ["look", "report", "keep", "pages", "together", "given"]) {
      if (tool === "keep" && member !== "rows") continue;
      yield { name: `${tool}: ${name}`, ...made(tool, `{"${member}":${json}}`) };
    }
    yield { name: `fill: ${name}`, ...made("fill", `{"${member}":${json}}`) };
    const structured = `{"resultType":"complete","content":[],"structuredContent":{"${member}":${json}}}`;
    yield { name: `echo: ${name}`, ...made("far__echo", structured) };
  }
  const ids = "<id>1</id>".repeat(700_000);
  yield { name: "document: right", ...made("document", `<all><ids>${ids}</ids></all>`, "application/xml") };
  yield {
    name: "document: wrong",
    ...made("document", `<all><ids>${ids.replaceAll("1", "x")}</ids></all>`, "application/xml"),
  };
  yield {
    name: "document: unknown",
    ...made("document", `<all>${"<other a='1'/>".repeat(700_000)}</all>`, "application/xml"),
  };
  yield { name: "look: more values than allowed", ...made("look", `{"ids":[${"1,".repeat(7_000_000)}1]}`) };
  const blocks = list(() => '{"type":"text","text":"a"}', many);
  yield { name: "echo: many blocks", ...made("far__echo", `{"resultType":"complete","content":${blocks}}`) };
}

/** Tool files that are published: compiled beside the event loop, with limits of their own. */
function* files() {
  for (const [name, text] of toolFiles()) {
    const approval = { hash: `sha256:${"0".repeat(64)}`, by: "Bench", at: "2026-11-02T09:00:00Z", version: "1.0.0" };
    const body = Buffer.from(JSON.stringify({ text, documents: {}, approval }));
    const run = (world) => post(world, "/api/v1/tenants/default/apis", { body });
    yield { name, body, run, goals: { turnMs: 50, bytes: 512e6, ms: 60_000 } };
  }
}

/** Descriptions that are imported, each by a command of its own. */
function* documents() {
  for (const [name, text] of descriptions()) {
    const body = Buffer.from(text);
    yield { name, body, import: `${name.replaceAll(/\W/g, "-")}.yaml`, goals: { turnMs: 10_000, bytes: 1e9 } };
  }
}
