import { NexusError } from "../../errors/nexus-error.ts";
import type { EarlierWrite, WriteOutcome } from "../../workshop/run/writes/write-ledger.ts";
import { partsOfKey, type ServerWrites } from "../../workshop/run/writes/unknown-writes.ts";
import { defineCommand, TENANT } from "../command/command.ts";
import { TenantState } from "../store/tenant-state.ts";
import { writesOf } from "./writes-of-tenant.ts";
import { wrongUsage } from "../command/command-line.ts";

/** nexus api settle XK7P… --happened no */
export const apiSettle = defineCommand({
  usage: "nexus api settle <id> --happened yes|no [--server NAME]",
  description: `
Records the outcome of a write after you have checked it with the API's operator. With "yes", the same call is never sent again;
it reports that the write was executed. With "no", the same call can be made again. Check before you answer "no":
a write that did arrive would be executed twice. "nexus api writes" lists the ids.`,
  options: {
    happened: { type: "string", value: "yes|no", help: "whether the write was executed" },
    server: { type: "string", value: "NAME", help: "the server, if writes of several servers have this id" },
    ...TENANT,
  },
  examples: [
    ["nexus api settle XK7PR2M4QW9TZ3HVNC5D --happened no", "the hotel has no such booking: booking again is allowed"],
    ["nexus api settle XK7PR2M4QW9TZ3HVNC5D --happened yes", "the hotel has the booking: it is not booked again"],
  ],

  async run(context) {
    const { options, out } = context;
    const [given = ""] = context.words;
    const { happened, server: only } = options;
    if (happened !== "yes" && happened !== "no") {
      throw wrongUsage(
        "--happened must be yes or no",
        `Check the outcome first, then: nexus api settle ${given} --happened yes`,
      );
    }
    const id = given.toUpperCase();
    await using state = new TenantState(context);
    const all = await writesOf(state, context);
    const found = await findWrites(all, id, only);
    const [write, ...others] = found;
    if (!write) throw await unknownId(all, id, only);
    if (others.length > 0) {
      const servers = [...new Set(found.map(({ server }) => server))].join(", ");
      throw wrongUsage(`Several servers have a write with the id ${id}: ${servers}`, "Select one: --server NAME.");
    }
    const { server, ledger, key } = write;
    const earlier = await ledger.resolve(key, happened === "yes" ? confirmed(new Date()) : { kind: "refused" });
    if (earlier?.kind !== "unknown") throw notUnknown(id, earlier);
    if (out.json) return out.value({ id, server, happened: happened === "yes" });
    out.line(
      happened === "yes"
        ? `Recorded that ${id} of "${server}" was executed. The same call is not sent again.`
        : `Recorded that ${id} of "${server}" was not executed. The same call can be made again.`,
    );
  },
});

async function findWrites(all: readonly ServerWrites[], id: string, only: string | undefined) {
  const found = [];
  for (const { server, ledger } of all.filter((each) => only === undefined || each.server === only)) {
    for (const { key } of await ledger.unknown()) {
      if (partsOfKey(key).id === id) found.push({ server, ledger, key });
    }
  }
  return found;
}

/**
 * A repeated call gets this instead of an answer, marked as an error because clients expect a result in the tool's
 * form.
 */
function confirmed(at: Date): WriteOutcome {
  const text = `At ${at.toISOString()} a person confirmed that it was executed. The answer of the API is not known.`;
  return { kind: "done", result: { content: [{ type: "text", text }], isError: true } };
}

async function unknownId(all: readonly ServerWrites[], id: string, only: string | undefined): Promise<NexusError> {
  const shown = JSON.stringify(id);
  const [elsewhere] = only === undefined ? [] : await findWrites(all, id, undefined);
  if (elsewhere) {
    return new NexusError("NAME_UNKNOWN", `The write ${shown} is one of the server "${elsewhere.server}"`, {
      hint: `Leave --server out, or give --server ${elsewhere.server}.`,
      mayHaveReached: false,
    });
  }
  for (const { ledger } of all) {
    const record = await ledger.findId(id);
    if (record) return notUnknown(id, record);
  }
  return new NexusError("NAME_UNKNOWN", `No write with unknown outcome has the id ${shown}`, {
    hint: '"nexus api writes" lists them. One that was recorded as not executed is no longer known.',
    mayHaveReached: false,
  });
}

function notUnknown(id: string, record: EarlierWrite | undefined): NexusError {
  if (record?.kind === "pending") {
    const until = new Date(record.until).toISOString();
    return wrongUsage(`${id} is still running, until ${until} at the latest`, "Wait for its answer.");
  }
  const what = record ? "was executed" : "was not executed";
  return wrongUsage(
    `The outcome is already recorded: ${id} ${what}`,
    'Nothing was changed. "nexus api writes" lists the writes with unknown outcome.',
  );
}
