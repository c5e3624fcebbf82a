import assert from "node:assert/strict";
import { Pool } from "undici";
import { connect } from "../../dist/index.js";
import { ApiRunner, apiServer, transportTo } from "../../dist/workshop/index.js";
import { BY_HAND, openPool } from "./by-hand.mjs";
import { CASES, openCase } from "./cases.mjs";

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
  /** The same work written by a person for this one call. */
  async byHand(name, { url }) {
    const parts = { pool: openPool(url), secret };
    const call = () => BY_HAND[name](parts, CASES[name].args);
    await assertSame(name, url, call);
    return { call: checked(name, call), close: () => parts.pool.close() };
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

const secret = async () => "bench-placeholder";

/** Otherwise the two do not do the same work. */
async function assertSame(name, url, call) {
  const { runner } = await openRunner(name, url);
  const { structuredContent } = await runner.call(CASES[name].tool, CASES[name].args);
  await runner.close();
  assert.deepEqual((await call()).structuredContent, structuredContent);
}

async function openRunner(name, upstream) {
  const { api, documents } = await openCase(name);
  const settings = Object.fromEntries(
    Object.entries(api.file.settings ?? {}).map(([name, { example, default: standard }]) => [
      name,
      example ?? standard,
    ]),
  );
  return { runner: new ApiRunner(api, { upstream, settings, secrets: secret }), documents };
}

function checked(name, call) {
  const { isRight } = CASES[name];
  return async () => {
    const result = await call();
    if (result.isError || !isRight(result)) throw new Error(`a wrong result: ${JSON.stringify(result)}`);
  };
}
