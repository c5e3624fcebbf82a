import { NexusError } from "../../../errors/nexus-error.ts";
import { trustFor } from "../../../host/servers/load-options.ts";
import { APIS, type NewlyPublished } from "../../../operations/apis.ts";
import { visible } from "../../../text/visible.ts";
import { neededSecrets } from "../../../workshop/file/model/secret-names.ts";
import { type Approval, isApproved } from "../../../workshop/review/lock.ts";
import { isElsewhere } from "../../command/command-line.ts";
import { defineCommand } from "../../command/command.ts";
import { factLines } from "../../output/facts.ts";
import type { Output } from "../../output/output.ts";
import { loadSound, ownLock, type NamedApi } from "../loaded.ts";
import { changeText } from "./change-text.ts";
import { INSTANCE_OPTIONS, instanceChange } from "./instance-options.ts";
import { APIS_OPTIONS, openApis } from "./open-apis.ts";

/** nexus api publish capcorn */
export const apiPublish = defineCommand({
  usage: "nexus api publish <api> [--as VERSION] [--instance NAME] [--upstream URL] [--setting name=value]…",
  description: `
Publishes an approved tool file with its documents: every gateway on the same database serves it within two seconds, without an
entry in a configuration file. The server has the name of the API; other instances than "live" are <api>-<instance>, with their
own address, settings, secrets and limits.

The version number belongs to the publication, so choosing one does not change what was approved. Without --as, a number in the
file that was changed and is higher than all others is taken; otherwise the next one: 1.0.1 if only texts changed, 1.1.0 if more is possible. A
change that breaks calls or results needs a new major number, which you choose: --as 2.0.0. Each major version keeps its own
address while it is published.`,
  options: {
    as: { type: "string", value: "VERSION", help: "the number of the version, such as 2.0.0" },
    instance: { type: "string", value: "NAME", help: "the instance that serves it; default: live" },
    ...INSTANCE_OPTIONS,
    ...APIS_OPTIONS,
  },
  examples: [
    ["nexus api publish capcorn", "publish what is approved, under the next number"],
    ["nexus api publish capcorn --as 2.0.0", "publish a breaking change"],
    ["nexus api publish capcorn --instance test --upstream fake", "serve it as capcorn-test, with a fake upstream"],
    ["nexus api publish capcorn --gateway https://gateway.example --json", `{"version":{"version":"1.1.0",…},…}`],
  ],

  async run(context) {
    const { out, options, surroundings, stateFolder, flags } = context;
    const [given = ""] = context.words;
    const loaded = await loadSound(given, out, surroundings.home);
    const approval = await approvalOf(loaded, trustFor({ surroundings, stateFolder, trust: flags.trust }));
    await using opened = await openApis(context);
    const { text, documents, api } = loaded;
    const { as, instance } = options;
    const { client, tenant } = opened;
    const { hash, by, at, version } = approval;
    const published: NewlyPublished = await client.call(APIS.publishApi, {
      ...instanceChange(options),
      tenant,
      text,
      documents,
      approval: { hash, by, at, version },
      as,
      instance,
    });
    if (out.json) return out.value(published);
    const { server, upstream } = published.instance;
    showPublished(out, published, upstream ?? api.file.upstream.base);
    const secrets = upstream === "fake" ? [] : neededSecrets(api.file, server);
    if (published.isNew && secrets.length > 0) {
      out.note(visible(`It needs the secrets ${secrets.join(", ")}: nexus secrets set NAME${opened.again}`));
    }
    if (published.isNew && published.version.change === null && !isElsewhere(context)) {
      out.note("Gateways on this store have it within two seconds. To start one: nexus serve");
    }
  },
});

/** The approval of exactly this content, by this user. */
async function approvalOf(loaded: NamedApi, trust: Parameters<typeof ownLock>[1]): Promise<Approval> {
  const { api, shown, again } = loaded;
  const lock = await ownLock(loaded, trust);
  const approval = api && isApproved(lock, api) ? lock?.approvals.at(-1) : undefined;
  if (approval) return approval;
  const why =
    api && isApproved(loaded.lock, api)
      ? "was approved, but not by you"
      : loaded.lock
        ? "has changed since it was approved"
        : "was never approved";
  throw new NexusError("UNTRUSTED", `${shown} ${why}. Only what is approved can be published`, {
    phase: "config",
    hint: `Review and approve it: nexus api diff ${again}, then nexus api approve ${again}`,
    mayHaveReached: false,
  });
}

function showPublished(out: Output, { version, isNew, instance, changes }: NewlyPublished, upstream: string): void {
  const { approval, change } = version;
  const title = isNew
    ? `Published ${version.api} ${version.version}`
    : `${version.api} ${version.version} is published`;
  const serves =
    instance.version === version.version
      ? `${instance.server}, the instance "${instance.name}"`
      : `nothing yet: ${instance.server} stays at version ${instance.version}`;
  const lines = factLines(out, title, [
    ["hash", [version.hash]],
    ["approved", [`by ${approval.by} at ${approval.at}`]],
    ["published", [`by ${version.publishedBy} at ${version.publishedAt}`]],
    ["change", change === null ? [] : [changeText(change.kind, change.since, changes)]],
    ["served as", [serves]],
    ["calls", [upstream === "fake" ? "the fake of its file" : upstream]],
    [
      "address",
      [`/servers/${instance.server}/mcp, and /servers/${instance.server}/v${version.version.split(".")[0]}/mcp`],
    ],
  ]);
  for (const line of lines) out.line(line);
}
