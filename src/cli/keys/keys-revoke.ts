import { defineCommand } from "../command/command.ts";
import { keyView, unknownKey } from "../../team/operate/key-operations.ts";
import { openOperated } from "../store/operated-store.ts";
import { requireKey, TENANT_OPTIONS } from "./key-words.ts";

/** nexus keys revoke 3fA9… */
export const keysRevoke = defineCommand({
  usage: "nexus keys revoke <id>",
  description: `Ends a key for good. Every gateway on the same database refuses it within a second and ends its streams within two.`,
  words: { min: 1, max: 1 },
  options: TENANT_OPTIONS,
  examples: [
    ["nexus keys revoke 3fA9cK2mQx7Ytz01", "the key is refused from now on"],
    ["nexus keys revoke 3fA9cK2mQx7Ytz01 --json", `{"id":"3fA9cK2mQx7Ytz01","name":"ci",…,"revoked":"…"}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [id = ""] = words;
    await using store = await openOperated(context);
    await requireKey(store.keys, id, options.tenant);
    const revoked = await store.keys.revoke(id);
    if (!revoked) throw unknownKey(id);
    if (out.json) out.value(keyView(revoked));
    else out.line(`Revoked the key ${id} ("${revoked.name}").`);
  },
});
