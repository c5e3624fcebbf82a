import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allCombinations, FEATURES, impossible, quickCombinations, someCombinations, UPSTREAMS } from "./definition.ts";
import { isFull } from "../fixtures/depth.ts";
import { PROOFS } from "./features.ts";
import { Answers, type Party } from "./party.ts";
import { MatrixWorld } from "./world.ts";

/** `npm run matrix` asks for all of it. */
const isAll = process.env["NEXUS_MATRIX"] === "all";
const combinations = isAll ? allCombinations() : isFull ? someCombinations() : quickCombinations();

let marks = 0;

describe.each(UPSTREAMS)("in front of a $name server", (upstream) => {
  let world: MatrixWorld;

  beforeAll(async () => {
    world = await MatrixWorld.open(upstream);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const here = combinations.filter((combination) => combination.upstream === upstream);
  describe.each(here)("a client of $client.name at $endpoint", (combination) => {
    const { client, endpoint } = combination;
    const answers = new Answers();
    let party: Party;

    beforeAll(async () => {
      party = await world.open(client, endpoint, answers);
    });
    afterAll(() => party?.[Symbol.asyncDispose]());

    const possible = FEATURES.filter((feature) => impossible(combination, feature) === undefined);
    test.each(possible)("has %s (B1, B2)", async (feature) => {
      const mark = `mark-${++marks}-`;
      answers.mark = mark;
      const from = (await world.transcript()).length;
      const proof = PROOFS[feature]({ world, party, endpoint, answers, mark, from });
      await expect(proof).resolves.toBeUndefined();
    });
  });
});
