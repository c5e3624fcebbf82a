import { maskUrl } from "../../masking/mask-words.ts";
import { unknownSecret } from "../../operations/secrets.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { TenantState } from "../store/tenant-state.ts";
import { wrongUsage } from "../command/command-line.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";

/** nexus secrets allow capcorn.user https://api.example */
export const secretsAllow = defineCommand({
  usage: "nexus secrets allow <name> <origin>",
  description: `
A secret is sent only to its allowed origins: those of the server it was stored for, or the first address it was used for.
This command adds an origin. "nexus secrets list" shows all origins. To remove an origin, remove the secret and set it again.

Origins do not apply to programs that receive secrets in "env" or "args".`,
  words: { min: 2, max: 2 },
  options: TENANT,
  examples: [
    ["nexus secrets allow capcorn.user https://test.example", "the API has moved, or has a second address"],
    ["nexus secrets allow capcorn.user http://127.0.0.1:9999", "a server on this machine replaces the API"],
  ],

  async run(context) {
    const { out } = context;
    const [name = "", given = ""] = context.words;
    const origin = parseWebOrigin(given);
    if (origin === undefined) {
      throw wrongUsage(
        `${JSON.stringify(maskUrl(given))} is not an origin`,
        "Use scheme, host and optional port: https://api.example or http://127.0.0.1:8080.",
      );
    }
    await using state = new TenantState(context);
    const secret = await state.secrets.allow(name, origin);
    if (!secret) throw await unknownSecret(name, state);
    const origins = secret.origins ?? [];
    if (out.json) out.value({ name, origins });
    else out.line(`The secret ${out.style("bold", name)} may be sent to ${origins.join(", ")}.`);
  },
});
