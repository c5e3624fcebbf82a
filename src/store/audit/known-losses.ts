import { createHmac, timingSafeEqual } from "node:crypto";
import type { Kysely } from "kysely";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { StoreTables } from "../tables/tables.ts";

/** Records that are gone on purpose: a backup was restored over them, or somebody said that their loss is known. */
export interface KnownLoss {
  /** Grows with each. */
  number: number;
  at: number;
  why: "restored" | "accepted";
  /** By tenant: the newest record that was there before. */
  until: Record<string, number>;
}

const NAME = "audit-losses";

/** What all losses so far took away, signed with the master key, in the database itself: every machine that uses it has to know. */
export class KnownLosses {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** One that was changed counts as none: then what it explained is reported again. */
  async find(db: Kysely<StoreTables>): Promise<KnownLoss | undefined> {
    const row = await db.selectFrom("nexus_facts").select("value").where("name", "=", NAME).executeTakeFirst();
    const [mac = "", text = ""] = row?.value.split(" ", 2) ?? [];
    const line = Buffer.from(text, "base64").toString("utf8");
    const [given, expected] = [Buffer.from(mac), Buffer.from(this.#macOf(line))];
    if (row === undefined || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return lossIn(parseJson(line));
  }

  /** With what was lost before, for machines that have not seen that either. */
  async record(
    db: Kysely<StoreTables>,
    loss: Omit<KnownLoss, "number">,
    { before, known }: { before: KnownLoss | undefined; known: number },
  ): Promise<KnownLoss> {
    const until = { ...before?.until };
    for (const [tenant, seq] of Object.entries(loss.until)) until[tenant] = Math.max(seq, until[tenant] ?? 0);
    const recorded = { ...loss, until, number: Math.max(before?.number ?? 0, known) + 1 };
    const line = JSON.stringify(recorded);
    const value = `${this.#macOf(line)} ${Buffer.from(line).toString("base64")}`;
    await db
      .insertInto("nexus_facts")
      .values({ name: NAME, value })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
      .execute();
    return recorded;
  }

  #macOf(line: string): string {
    return createHmac("sha256", this.#key).update(`losses ${line}`).digest("hex");
  }
}

function lossIn(value: unknown): KnownLoss | undefined {
  if (!isRecord(value) || !isRecord(value["until"])) return undefined;
  const { number, at, why } = value;
  if (typeof number !== "number" || typeof at !== "number") return undefined;
  const until: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [tenant, seq] of Object.entries(value["until"])) if (typeof seq === "number") until[tenant] = seq;
  return { number, at, why: why === "accepted" ? "accepted" : "restored", until };
}
