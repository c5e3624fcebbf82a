import type { Message, Params } from "../../src/protocol/json-rpc.ts";
import type { OpenStream } from "../fixtures/gateway/wire.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import type { Operation, Step } from "./crossing-step.ts";
import { maySee, seesServer, seesServerAnywhere, tenantOf } from "./team-keys.ts";
import { TENANTS, thingsIn, type Thing } from "./team-servers.ts";
import { fixedArgument, PEEK } from "./team-sets.ts";

/** Ids that say something by themselves. */
const TELLING_IDS = ["vault", ...TENANTS.map((tenant) => `${tenant}-only`)];
const SENDER = /sent-by:([^:]+):/;
/** Reaches `look` with the arguments of the set alone. */
const ONLY_IN_A_SET = "beta-support";
const LISTED = { tools: "tool", prompts: "prompt", resources: "resource", resourceTemplates: "resource" } as const;

/** Decides whether a caller may read what it read, and remembers what it may not. */
export class Oracle {
  readonly crossings: string[] = [];
  /** How often callers got what is their own. */
  readonly succeeded: Partial<Record<Operation, number>> = {};

  report({ caller, operation }: Step, what: string): void {
    this.crossings.push(`${caller} (${operation}) ${what}`);
  }

  succeed({ operation }: Step): void {
    this.succeeded[operation] = (this.succeeded[operation] ?? 0) + 1;
  }

  /** Nothing that a caller reads has the mark of something that it may not see, nor the id of a hidden server. */
  inspect(step: Step, { asked, text }: { asked: string; text: string }): void {
    for (const thing of thingsIn(text)) {
      if (!maySee(step.caller, thing, step.place)) this.report(step, `read of ${JSON.stringify(thing)}`);
    }
    if (text.includes(fixedArgument(""))) this.report(step, "read fixed arguments");
    for (const id of TELLING_IDS) {
      if (text.includes(id) && !asked.includes(id) && !seesServer(step.caller, id, step.place))
        this.report(step, `read of ${id}`);
    }
  }

  /** Names in lists, also of things without a mark. */
  inspectList(step: Step, { result }: WireMessage): void {
    for (const [member, kind] of Object.entries(LISTED)) {
      const items = result?.[member] as Params[] | undefined;
      if (!Array.isArray(items)) continue;
      for (const item of items) {
        const thing = listedThing(step, kind, String(item["uriTemplate"] ?? item["uri"] ?? item["name"]));
        if (!maySee(step.caller, thing, step.place)) this.report(step, `lists ${JSON.stringify(thing)}`);
      }
    }
  }

  /** Changes of resources that a caller may not see are not told. */
  inspectStream(step: Step, { asked, stream }: { asked: string; stream: OpenStream }): void {
    this.inspect(step, { asked, text: stream.raw });
    for (const { params } of stream.events) {
      if (typeof params?.["uri"] !== "string") continue;
      const thing = listedThing(step, "resource", params["uri"]);
      if (!maySee(step.caller, thing, step.place)) this.report(step, `hears of ${JSON.stringify(thing)}`);
      else this.succeed({ ...step, operation: "change" });
    }
  }

  /** Nothing came to a server from a caller that may not see it, and what came through a set has its arguments. */
  inspectServer({ tenant, server, received }: { tenant: string; server: string; received: readonly Message[] }): void {
    for (const message of received) {
      const caller = SENDER.exec(JSON.stringify(message))?.[1];
      if (caller === undefined) continue;
      if (tenantOf(caller) !== tenant || !seesServerAnywhere(caller, server)) {
        this.crossings.push(`${caller} reached ${server} of ${tenant}`);
      }
      if (caller !== ONLY_IN_A_SET || !("method" in message) || message.method !== "tools/call") continue;
      const { name, arguments: args } = message.params ?? {};
      if (name !== "look" || (args as Params | undefined)?.["who"] === fixedArgument(tenant)) continue;
      this.crossings.push(`${caller} called look with ${JSON.stringify(args)}`);
    }
  }
}

/** Names begin with their server, but at the server's own endpoint. */
export function listedThing({ caller, place, server }: Step, kind: Thing["kind"], name: string): Thing {
  const tenant = tenantOf(caller) ?? "";
  if (place === "alone") return { tenant, server, kind, name };
  if (place === "support" && name === PEEK) return { tenant, server: "docs", kind, name: "look" };
  const [, prefix = "", own = ""] = /^([\w-]+?)(?:__|\+)(.*)$/.exec(name) ?? [];
  return { tenant, server: prefix, kind, name: own };
}
