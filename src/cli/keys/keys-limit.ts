import { writtenLimits } from "../../store/keep/request-limits.ts";
import { defineCommand } from "../command/command.ts";
import { openOperated } from "../store/operated-store.ts";
import { keyView, unknownKey } from "../../team/operate/key-operations.ts";
import { requireKey, TENANT_OPTIONS } from "./key-words.ts";
import { LIMIT_OPTIONS, limitsIn, limitsText, requireLimits } from "./limit-options.ts";

/** nexus keys limit 3fA9… --rate 10/s */
export const keysLimit = defineCommand({
  usage: "nexus keys limit <id> [--rate 10/s] [--per-day 10000] [--concurrent 8] [--max-request 64kB]",
  description: `Changes the limits of a key. The value "none" removes a limit; limits that are not named stay. Every gateway on the same database
applies them within a second, and counts what was used before.

Every request counts except initialize, server/discover, ping, notifications and answers. Over a limit a caller gets HTTP 429 with
Retry-After, and the error RATE_LIMITED, which names the limit. Limits of a tenant (nexus tenants limit) apply also.`,
  words: { min: 1, max: 1 },
  options: { ...LIMIT_OPTIONS, ...TENANT_OPTIONS },
  examples: [
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate 10/s --per-day 10000", "both limits apply"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --rate none", "removes one limit"],
    ["nexus keys limit 3fA9cK2mQx7Ytz01 --concurrent 8 --json", `{"id":"…",…,"limits":{"concurrent":8}}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [id = ""] = words;
    const change = requireLimits(limitsIn(options));
    await using store = await openOperated(context);
    await requireKey(store.keys, id, options.tenant);
    const changed = await store.keys.setLimits(id, change);
    if (!changed) throw unknownKey(id);
    if (out.json) return out.value(keyView(changed));
    const text = limitsText(writtenLimits(changed.limits));
    out.line(`Limits of the key ${id} ("${changed.name}"): ${text === "" ? "none" : text}.`);
  },
});
