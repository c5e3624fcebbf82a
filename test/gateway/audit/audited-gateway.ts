import { DEFAULT_AUDIT, type AuditSettings } from "../../../src/config/gateway-settings.ts";
import type { Store } from "../../../src/store/store.ts";
import { KeyDoor } from "../../../src/team/key-door.ts";
import { StoredAudit, type StoredAuditOptions } from "../../../src/team/stored-audit.ts";
import { ScriptedServer } from "../../../src/testing/scripted-server.ts";
import { SILENT } from "../../../src/text/logger.ts";
import { AccessWorld, type Asking } from "../access/access-world.ts";

export type Stored = Record<string, unknown>;

interface AuditedOptions extends Pick<StoredAuditOptions, "maxWaiting" | "collectMs"> {
  settings?: Partial<AuditSettings>;
  needs?: "keys" | "when-there-are-keys";
}

/** A gateway in this process that records its calls in a store. */
export class AuditedGateway implements AsyncDisposable {
  readonly world: AccessWorld;
  readonly audit: StoredAudit;
  readonly store: Store;
  readonly #door: KeyDoor;

  static async open(store: Store, { settings, needs = "when-there-are-keys", ...options }: AuditedOptions = {}) {
    const audit = new StoredAudit({ store, settings: { ...DEFAULT_AUDIT, ...settings }, logger: SILENT, ...options });
    const door = await KeyDoor.open({ store, needs, logger: SILENT });
    const box = new ScriptedServer({
      tools: {
        look: ({ text = "seen" }) => String(text),
        hidden: () => "never",
        fail: () => {
          throw new Error("broken");
        },
      },
    });
    const world = await AccessWorld.open({ box }, { door, audit });
    return new AuditedGateway(world, { audit, store, door });
  }

  private constructor(world: AccessWorld, parts: { audit: StoredAudit; store: Store; door: KeyDoor }) {
    this.world = world;
    this.audit = parts.audit;
    this.store = parts.store;
    this.#door = parts.door;
  }

  call(tool: string, args: object = {}, asking: Asking = {}) {
    return this.world.ask("tools/call", { name: `box__${tool}`, arguments: args }, { capabilities: {}, ...asking });
  }

  async newKey(allow: string[], tenant = "default"): Promise<{ id: string; headers: { authorization: string } }> {
    const grants = { allow, deny: [], readOnly: false };
    const { key, about } = await this.store.keys.create({ tenant, name: "ada", role: "caller", grants });
    return { id: about.id, headers: { authorization: `Bearer ${key}` } };
  }

  /** All records, the oldest first. */
  async records(tenant = "default"): Promise<Stored[]> {
    let lines = "";
    for await (const text of this.store.audit.lines(tenant)) lines += text;
    return lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Stored);
  }

  /** Ends everything but the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
    this.#door[Symbol.dispose]();
    await this.audit[Symbol.asyncDispose]();
  }
}
