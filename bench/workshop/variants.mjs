import { SaxesParser } from "saxes";
import { Pool } from "undici";
import { connect } from "../../dist/index.js";
import { ApiRunner, apiServer, loadApproved, transportTo } from "../../dist/workshop/index.js";
import { CASES, pathOf } from "./cases.mjs";

/** Ways to make the same request; each gives a function that makes it once. */
export const VARIANTS = {
  /** What nobody can do without: the request, and the bytes of its answer. */
  async bare(_, { url, request }) {
    const pool = new Pool(new URL(url).origin);
    const call = async () => {
      const { body } = await pool.request(request);
      return (await body.arrayBuffer()).byteLength;
    };
    return { call, close: () => pool.close() };
  },
  /** What whoever writes it for this one call does: reads the document into objects, and gives it to the model as text. */
  async byHand(name, { url, request }) {
    const pool = new Pool(new URL(url).origin);
    const read = name === "xml" ? readXml : JSON.parse;
    const call = async () => {
      const { body } = await pool.request(request);
      return JSON.stringify(read(await body.text())).length;
    };
    return { call, close: () => pool.close() };
  },
  async runner(name, { url }) {
    const { tool, args } = CASES[name];
    const { runner } = await openRunner(name, url);
    return { call: checked(name, () => runner.call(tool, args)), close: () => runner.close() };
  },
  /** As a client has it, in the same process. */
  async client(name, { url }) {
    const { tool, args } = CASES[name];
    const { runner, documents } = await openRunner(name, url);
    const client = await connect(transportTo(apiServer(runner, { documents })));
    const close = async () => {
      await client.close();
      await runner.close();
    };
    return { call: checked(name, () => client.callTool(tool, args)), close };
  },
};

function readXml(text) {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const root = { children: [] };
  const open = [root];
  parser.on("opentag", ({ local, attributes }) => {
    const element = { name: local, attributes: {}, children: [], text: "" };
    for (const { local: name, value } of Object.values(attributes)) element.attributes[name] = value;
    open.at(-1).children.push(element);
    open.push(element);
  });
  parser.on("text", (piece) => (open.at(-1).text += piece));
  parser.on("closetag", () => open.pop());
  parser.write(text).close();
  return root;
}

async function openRunner(name, upstream) {
  const { api, documents } = await loadApproved(pathOf(name));
  const settings = Object.fromEntries(
    Object.entries(api.file.settings ?? {}).map(([name, { example, default: standard }]) => [
      name,
      example ?? standard,
    ]),
  );
  return { runner: new ApiRunner(api, { upstream, settings, secrets: async () => "bench-placeholder" }), documents };
}

function checked(name, call) {
  const { isRight } = CASES[name];
  return async () => {
    const result = await call();
    if (result.isError || !isRight(result)) throw new Error(`a wrong result: ${JSON.stringify(result)}`);
  };
}
