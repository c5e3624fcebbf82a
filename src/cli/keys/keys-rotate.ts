import { defineCommand } from "../command/command.ts";
import { unknownKey } from "../../team/operate/key-operations.ts";
import { openOperated } from "../store/operated-store.ts";
import { durationOption, requireKey, TENANT_OPTIONS, tellIssued } from "./key-words.ts";

const OVERLAP = "1h";

/** nexus keys rotate 3fA9… --overlap 10m */
export const keysRotate = defineCommand({
  usage: "nexus keys rotate <id> [--overlap 1h]",
  description: `Gives a key a new secret and prints it once. The id, the name and the rules stay. The old secret works for the overlap, so that
clients can be changed one after the other.`,
  words: { min: 1, max: 1 },
  options: {
    overlap: {
      type: "string",
      value: OVERLAP,
      help: `how long the old secret works; default: ${OVERLAP}, 0s ends it now`,
    },
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys rotate 3fA9cK2mQx7Ytz01", "the old secret works for an hour"],
    ["nexus keys rotate 3fA9cK2mQx7Ytz01 --overlap 0s", "the old secret stops now, for example because it leaked"],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [id = ""] = words;
    const { overlap = OVERLAP } = options;
    const overlapMs = durationOption("overlap", overlap, 0);
    await using store = await openOperated(context);
    await requireKey(store.keys, id, options.tenant);
    const issued = await store.keys.rotate(id, overlapMs);
    if (!issued) throw unknownKey(id);
    const old = overlapMs > 0 ? `works for ${overlap}` : "does not work any more";
    tellIssued(out, issued, `The key ${id} has a new secret; the old one ${old}:`);
  },
});
