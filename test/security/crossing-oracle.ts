import type { Params } from "../../src/protocol/json-rpc.ts";
import type { OpenStream } from "../fixtures/gateway/wire.ts";
import type { WireMessage } from "../fixtures/json-line-peer.ts";
import type { Operation, Step } from "./crossing-step.ts";
import { maySee, seesServer, tenantOf } from "./team-keys.ts";
import { TENANTS, thingsIn, type Thing } from "./team-servers.ts";

/** Ids that say something by themselves. */
const TELLING_IDS = ["vault", ...TENANTS.map((tenant) => `${tenant}-only`)];
const SENDERS = /sent-by:([^:]+):/g;
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
      if (!maySee(step.caller, thing)) this.report(step, `read of ${JSON.stringify(thing)}`);
    }
    for (const id of TELLING_IDS) {
      if (text.includes(id) && !asked.includes(id) && !seesServer(step.caller, id)) this.report(step, `read of ${id}`);
    }
  }

  /** Names in lists, also of things without a mark. */
  inspectList(step: Step, { result }: WireMessage): void {
    for (const [member, kind] of Object.entries(LISTED)) {
      const items = result?.[member] as Params[] | undefined;
      if (!Array.isArray(items)) continue;
      for (const item of items) {
        const thing = listedThing(step, kind, String(item["uriTemplate"] ?? item["uri"] ?? item["name"]));
        if (!maySee(step.caller, thing)) this.report(step, `lists ${JSON.stringify(thing)}`);
      }
    }
  }

  /** Changes of resources that a caller may not see are not told. */
  inspectStream(step: Step, { asked, stream }: { asked: string; stream: OpenStream }): void {
    this.inspect(step, { asked, text: stream.raw });
    for (const { params } of stream.events) {
      if (typeof params?.["uri"] !== "string") continue;
      const thing = listedThing(step, "resource", params["uri"]);
      if (!maySee(step.caller, thing)) this.report(step, `hears of ${JSON.stringify(thing)}`);
      else this.succeed({ ...step, operation: "change" });
    }
  }

  /** Nothing came to a server from a caller that may not see it. */
  inspectServer({ tenant, server, text }: { tenant: string; server: string; text: string }): void {
    for (const [, caller = ""] of text.matchAll(SENDERS)) {
      if (tenantOf(caller) !== tenant || !seesServer(caller, server)) {
        this.crossings.push(`${caller} reached ${server} of ${tenant}`);
      }
    }
  }
}

/** On the endpoint of all servers names begin with their server. */
export function listedThing({ caller, isAlone, server }: Step, kind: Thing["kind"], name: string): Thing {
  const tenant = tenantOf(caller) ?? "";
  if (isAlone) return { tenant, server, kind, name };
  const [, prefix = "", own = ""] = /^([\w-]+?)(?:__|\+)(.*)$/.exec(name) ?? [];
  return { tenant, server: prefix, kind, name: own };
}
