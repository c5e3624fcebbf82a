import type { GrantPattern } from "../../team/grant-pattern.ts";
import { KEY_ROLES, type KeyRole } from "../../store/keep/api-keys.ts";
import { changedLimits } from "../../store/keep/request-limits.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { openOperated } from "../store/operated-store.ts";
import { LIMIT_OPTIONS, limitsIn } from "./limit-options.ts";
import { durationOption, TENANT_OPTIONS, tellIssued } from "./key-words.ts";

/** nexus keys create ci --allow github */
export const keysCreate = defineCommand({
  usage:
    "nexus keys create <name> --allow PATTERN… [--deny PATTERN]… [--role ROLE] [--read-only] [--expires 90d] [--rate 10/s] [--per-day 10000]",
  description: `Creates an API key for a client of the gateway and prints it once; only its hash is stored. From the first key on, a gateway on
the same database needs a key for every call.

A pattern starts with a server id, or with * for every server: github is everything of a server, github.search* its tools by
name, github/resources, github/prompts and github/methods the other kinds, and * everything of the tenant. set:support is a set,
at its own address only. --deny wins over --allow, also in sets. What a key may not use is answered like something that does not exist.

Limits: every request counts except initialize, server/discover, ping, notifications and answers. A window starts with its first
request. Over a limit a caller gets HTTP 429 with Retry-After. nexus keys limit changes them.

Roles: a caller uses MCP; an operator also sees the metrics of its tenant; an admin also manages servers and keys of its tenant.`,
  words: { min: 1, max: 1 },
  options: {
    allow: { type: "string", multiple: true, value: "PATTERN", help: "what the key may use; at least one; repeatable" },
    deny: { type: "string", multiple: true, value: "PATTERN", help: "what it may not use; repeatable" },
    role: { type: "string", value: "ROLE", help: `${KEY_ROLES.join(", ")}; default: caller` },
    "read-only": {
      type: "boolean",
      help: "only tools that are annotated as read-only, resources and prompts",
    },
    expires: { type: "string", value: "90d", help: "how long the key works; default: until it is revoked" },
    ...LIMIT_OPTIONS,
    "all-tenants": {
      type: "boolean",
      help: `the admin manages all tenants; only for the tenant ${DEFAULT_TENANT}`,
    },
    ...TENANT_OPTIONS,
  },
  examples: [
    ["nexus keys create ci --allow github.search*", "a key for some tools of one server"],
    ["nexus keys create desk --allow set:support", "a key for a set, and for nothing else"],
    ["nexus keys create ada --allow '*' --deny 'github.delete*' --expires 90d", "everything else, for 90 days"],
    ["nexus keys create batch --allow docs --rate 10/s --per-day 10000", "a key with limits"],
    ["nexus keys create reader --allow '*' --read-only --json", `{"id":"…","key":"nxs_…","name":"reader",…}`],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const { tenant = DEFAULT_TENANT, allow = [], deny = [], "all-tenants": allTenants = false } = options;
    if (name.trim() === "")
      throw wrongUsage("The name of the key is empty", "Name who uses it: nexus keys create ci …");
    if (allow.length === 0) {
      throw wrongUsage(
        "The key would allow nothing",
        "Add --allow PATTERN, for example --allow github or --allow '*'.",
      );
    }
    const { parseGrant } = await import("../../team/grant-pattern.ts");
    const sets = [...allow, ...deny].flatMap((pattern) => {
      const grant = checkPattern(pattern, parseGrant);
      return grant.kind === "set" && !grant.name.includes("*") ? [grant.name] : [];
    });
    const role = roleOf(options.role);
    if (allTenants && (role !== "admin" || tenant !== DEFAULT_TENANT)) {
      throw wrongUsage(
        "--all-tenants is only for admins of the default tenant",
        `Use --role admin, and remove --tenant.`,
      );
    }
    const lifeMs = options.expires === undefined ? undefined : durationOption("expires", options.expires, 1_000);
    const limits = changedLimits({}, limitsIn(options));
    await using store = await openOperated(context, { creates: true });
    const issued = await store.keys.create({
      tenant,
      name,
      role,
      grants: { allow, deny, readOnly: options["read-only"] === true },
      limits,
      allTenants,
      expiresAt: lifeMs === undefined ? undefined : Date.now() + lifeMs,
    });
    const known = sets.length === 0 ? [] : (await store.sets.list(tenant)).map((set) => set.name);
    for (const set of sets.filter((each) => !known.includes(each))) {
      out.note(
        `There is no set "${set}" in the tenant "${tenant}" yet. To create it: nexus sets create ${set} --allow PATTERN`,
      );
    }
    tellIssued(out, issued, `Created the key ${issued.about.id} ("${name}") for the tenant "${tenant}":`);
  },
});

function roleOf(given = "caller"): KeyRole {
  const role = KEY_ROLES.find((each) => each === given);
  if (role) return role;
  throw wrongUsage(`--role "${given}" is unknown`, `Use ${KEY_ROLES.join(", ")}.`);
}

/** A mistake on the command line, not in a configuration file. */
function checkPattern(pattern: string, parse: (text: string) => GrantPattern): GrantPattern {
  try {
    return parse(pattern);
  } catch {
    throw wrongUsage(
      `${JSON.stringify(pattern)} is not a valid pattern`,
      `A pattern starts with a server id, or with * for every server: github, github.search*, github/resources, '*'. A set is set:NAME.`,
    );
  }
}
