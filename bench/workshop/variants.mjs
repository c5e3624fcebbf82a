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

async function openRunner(name, upstream) {
  const { api, documents } = await loadApproved(pathOf(name));
  return { runner: new ApiRunner(api, { upstream, secrets: async () => "bench-placeholder" }), documents };
}

function checked(name, call) {
  const { isRight } = CASES[name];
  return async () => {
    const result = await call();
    if (result.isError || !isRight(result)) throw new Error(`a wrong result: ${JSON.stringify(result)}`);
  };
}
