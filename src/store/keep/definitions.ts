import type { ExpressionBuilder, Kysely } from "kysely";
import { NexusError } from "../../errors/nexus-error.ts";
import type { DefinitionChange, ReadList } from "../../host/definitions/definition-ledger.ts";
import {
  beside,
  KnownDefinitions,
  pendingChange,
  type DefinitionPlace,
  type Difference,
} from "../../host/definitions/known-definitions.ts";
import type { ReceivedDefinition } from "../../host/definitions/listed-definitions.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import { sha256 } from "../../text/digest.ts";
import type { StoreTables } from "../tables/tables.ts";
import { announce } from "./generations.ts";

/** A definition that waits to be accepted. */
export interface PendingDefinition extends DefinitionChange {
  id: string;
  /** Only callers with certain capabilities see it this way. */
  isForSome: boolean;
  since: number;
  /** The hash of what is listed now; undefined if nothing is. */
  hash: string | undefined;
  /** Undefined if it was never accepted. */
  accepted: unknown;
  /** Undefined if the server does not list it any more. */
  current: unknown;
}

/** What a list has changed: the differences, and all hashes of the server after it. */
interface RecordedList {
  differences: readonly Difference[];
  known: KnownDefinitions;
}

const ROWS_AT_ONCE = 500;
/** Of a larger definition, only the hash is kept. */
const MAX_BODY = 256 * 1024;

type Row = StoreTables["nexus_definitions"];
type Hashes = Pick<Row, "server" | "kind" | "name" | "accepted_hash" | "current_hash">;

/** The definitions that the servers of one tenant list, and those that were accepted. */
export class Definitions {
  readonly #db: Kysely<StoreTables>;
  readonly #tenant: string;
  readonly #now: () => number;

  constructor(db: Kysely<StoreTables>, tenant: string, now: () => number) {
    this.#db = db;
    this.#tenant = tenant;
    this.#now = now;
  }

  /** The hashes by server; a server without any has an empty one. */
  async load(servers: readonly string[]): Promise<Map<string, KnownDefinitions>> {
    return this.#load(this.#db, servers);
  }

  /** Compares a list with what is stored, and stores the differences. */
  async record(list: ReadList): Promise<RecordedList> {
    return this.#db.transaction().execute(async (transaction) => {
      const load = async () =>
        (await this.#load(transaction, [list.server])).get(list.server) ?? new KnownDefinitions();
      let known = await load();
      let differences = known.differences(list);
      const mark = differences.find(({ place }) => place.kind === "lists");
      if (mark && !(await this.#insertMark(transaction, list.server, mark.place))) {
        // Another process has just recorded the first list.
        known = await load();
        differences = known.differences(list);
      }
      await this.#write(transaction, list, differences);
      for (const { place, now } of differences) known.set(place, now);
      return { differences, known };
    });
  }

  /** What waits to be accepted, sorted by server, kind and name. */
  async pending(server?: string): Promise<PendingDefinition[]> {
    const all = this.#db
      .selectFrom("nexus_definitions")
      .selectAll()
      .where("tenant", "=", this.#tenant)
      .where((eb) => isPending(eb));
    const rows = await (server === undefined ? all : all.where("server", "=", server)).execute();
    const others = await this.#acceptedElsewhere(rows);
    const pending = rows.flatMap((row) => pendingOf(row, others.get(row.id)) ?? []);
    return pending.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  }

  /** The servers with definitions, sorted. */
  async servers(): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("nexus_definitions")
      .select("server")
      .distinct()
      .where("tenant", "=", this.#tenant)
      .execute();
    return rows.map(({ server }) => server).toSorted();
  }

  /** The names of a server's definitions, pending or not. */
  async names(server: string): Promise<Pick<DefinitionChange, "server" | "kind" | "name">[]> {
    const known = (await this.load([server])).get(server)?.all() ?? [];
    return known.flatMap(({ place: { kind, name } }) => (kind === "lists" ? [] : [{ server, kind, name }]));
  }

  /**
   * Accepts definitions as they were read; what is not listed any more is forgotten. All processes notice it. Returns the
   * ids of those that were accepted: one that has changed again is not. `together`: then none is, and it throws
   * DEFINITION_CHANGED.
   */
  async accept(pending: readonly PendingDefinition[], { together = false } = {}): Promise<string[]> {
    return this.#db.transaction().execute(async (transaction) => {
      const accepted: string[] = [];
      for (const each of pending) if (await this.#acceptOne(transaction, each)) accepted.push(each.id);
      if (together && accepted.length < pending.length) throw changedAgain();
      if (accepted.length > 0) await announce(transaction, "definitions");
      return accepted;
    });
  }

  /** By the ids of rows that were never accepted: what was accepted under the same name in the list for other callers. */
  async #acceptedElsewhere(rows: readonly Row[]): Promise<Map<string, string>> {
    const byOther = new Map<string, string>();
    for (const row of rows) {
      if (row.accepted_hash === null) byOther.set(this.#emptyRow(row.server, beside(placeOf(row))).id, row.id);
    }
    const found = new Map<string, string>();
    const ids = [...byOther.keys()];
    for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
      const others = await this.#db
        .selectFrom("nexus_definitions")
        .select(["id", "accepted"])
        .where("id", "in", ids.slice(at, at + ROWS_AT_ONCE))
        .where("accepted_hash", "is not", null)
        .execute();
      for (const { id, accepted } of others) found.set(byOther.get(id) ?? "", accepted ?? "null");
    }
    return found;
  }

  /** False if the definition is not as it was when it was read. */
  async #acceptOne(db: Kysely<StoreTables>, { id, hash }: PendingDefinition): Promise<boolean> {
    const own = { id, tenant: this.#tenant };
    if (hash === undefined) {
      const { numDeletedRows } = await db
        .deleteFrom("nexus_definitions")
        .where((eb) => eb.and(own))
        .where("current_hash", "is", null)
        .executeTakeFirst();
      return numDeletedRows === 1n;
    }
    const { numUpdatedRows } = await db
      .updateTable("nexus_definitions")
      .set((eb) => ({ accepted_hash: eb.ref("current_hash"), accepted: eb.ref("current") }))
      .where((eb) => eb.and(own))
      .where("current_hash", "=", hash)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  async #load(db: Kysely<StoreTables>, servers: readonly string[]): Promise<Map<string, KnownDefinitions>> {
    const known = new Map(servers.map((server) => [server, new KnownDefinitions()]));
    if (servers.length === 0) return known;
    const rows = await db
      .selectFrom("nexus_definitions")
      .select(["server", "kind", "name", "accepted_hash", "current_hash"])
      .where("tenant", "=", this.#tenant)
      .where("server", "in", [...servers])
      .execute();
    for (const row of rows) {
      const hashes = { accepted: row.accepted_hash ?? undefined, current: row.current_hash ?? undefined };
      known.get(row.server)?.set(placeOf(row), hashes);
    }
    return known;
  }

  /** False if it exists. */
  async #insertMark(db: Kysely<StoreTables>, server: string, place: DefinitionPlace): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("nexus_definitions")
      .values(this.#emptyRow(server, place))
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows === 1n;
  }

  async #write(db: Kysely<StoreTables>, list: ReadList, differences: readonly Difference[]): Promise<void> {
    const { server, definitions } = list;
    const rows: Row[] = [];
    const gone: string[] = [];
    for (const { place, now } of differences) {
      if (place.kind === "lists") continue;
      const row = this.#emptyRow(server, place);
      if (!now) {
        gone.push(row.id);
        continue;
      }
      const body = now.current === undefined ? null : bodyOf(definitions.get(place.name));
      row.current_hash = now.current ?? null;
      row.current = body;
      row.accepted_hash = now.accepted ?? null;
      row.accepted = now.accepted !== undefined && now.accepted === now.current ? body : null;
      rows.push(row);
    }
    const isAccepted = (row: Row) => row.current_hash !== null && row.accepted_hash === row.current_hash;
    await this.#put(db, rows.filter(isAccepted), [
      "current_hash",
      "current",
      "changed_at",
      "accepted_hash",
      "accepted",
    ]);
    // What was accepted stays as it was accepted.
    await this.#put(
      db,
      rows.filter((row) => !isAccepted(row)),
      ["current_hash", "current", "changed_at"],
    );
    for (let at = 0; at < gone.length; at += ROWS_AT_ONCE) {
      await db
        .deleteFrom("nexus_definitions")
        .where("id", "in", gone.slice(at, at + ROWS_AT_ONCE))
        .execute();
    }
  }

  /** Inserts rows; of those that exist, it updates these columns. */
  async #put(db: Kysely<StoreTables>, rows: readonly Row[], columns: readonly (keyof Row)[]): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      await db
        .insertInto("nexus_definitions")
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet((eb) => Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]))),
        )
        .execute();
    }
  }

  #emptyRow(server: string, place: DefinitionPlace): Row {
    const kind = place.seenBy === "all" ? place.kind : `${place.kind}${FOR_SOME}`;
    // Names come from servers: PostgreSQL does not keep every character.
    const name = JSON.stringify(place.name);
    return {
      id: sha256(JSON.stringify([this.#tenant, server, kind, name])),
      tenant: this.#tenant,
      server,
      kind,
      name,
      accepted_hash: null,
      accepted: null,
      current_hash: null,
      current: null,
      changed_at: this.#now(),
    };
  }
}

export function changedAgain(): NexusError {
  return new NexusError("DEFINITION_CHANGED", "Some definitions have changed again, or do not wait any more", {
    hint: "Read the changes again. Nothing was accepted.",
    mayHaveReached: false,
  });
}

/** After the kind of definitions that only callers with certain capabilities see. */
const FOR_SOME = "/some";

function placeOf({ kind, name }: Pick<Hashes, "kind" | "name">): DefinitionPlace {
  const isForSome = kind.endsWith(FOR_SOME);
  const plain = isForSome ? kind.slice(0, -FOR_SOME.length) : kind;
  return {
    kind: plain as DefinitionPlace["kind"],
    seenBy: isForSome ? "some" : "all",
    name: JSON.parse(name) as string,
  };
}

function isPending(eb: ExpressionBuilder<StoreTables, "nexus_definitions">) {
  return eb.or([
    eb("accepted_hash", "<>", eb.ref("current_hash")),
    eb.and([eb("accepted_hash", "is", null), eb("current_hash", "is not", null)]),
    eb.and([eb("accepted_hash", "is not", null), eb("current_hash", "is", null)]),
  ]);
}

/** `other`: what was accepted under this name in the list for other callers. */
function pendingOf(row: Row, other: string | undefined): PendingDefinition | undefined {
  const { kind, name, seenBy } = placeOf(row);
  const own = pendingChange({ accepted: row.accepted_hash ?? undefined, current: row.current_hash ?? undefined });
  if (own === undefined || kind === "lists") return undefined;
  const what = own === "added" && other !== undefined ? "changed" : own;
  return {
    id: row.id,
    server: row.server,
    kind,
    name,
    what,
    isForSome: seenBy === "some",
    since: row.changed_at,
    hash: row.current_hash ?? undefined,
    accepted: parsed(row.accepted ?? other ?? null),
    current: parsed(row.current),
  };
}

function parsed(json: string | null): unknown {
  return json === null ? undefined : JSON.parse(json);
}

const ORDER: Record<ListKind, number> = { tools: 0, prompts: 1, resources: 2, resourceTemplates: 3 };

/** Unique; its order is that of `pending`. */
export function sortKey({ server, kind, name, isForSome }: PendingDefinition): string {
  return `${server} ${ORDER[kind]} ${name} ${isForSome ? 1 : 0}`;
}

function bodyOf({ received, hash }: Partial<ReceivedDefinition> = {}): string {
  const json = JSON.stringify(received) ?? "null";
  if (json.length <= MAX_BODY) return json;
  // The hash differs wherever the definition does.
  return JSON.stringify({ tooLargeToKeep: `${json.length} characters`, sha256: hash });
}
