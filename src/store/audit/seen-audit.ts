import { isoTime } from "../../text/duration.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { within } from "../../async/within.ts";
import type { Logger } from "../../text/logger.ts";
import type { ChainPlace } from "./audit-chain.ts";
import type { AuditLog } from "./audit-log.ts";
import { WitnessChanged, type AuditWitness, type Seen, type SeenPlace } from "./audit-witness.ts";
import type { KnownLoss } from "./known-losses.ts";

type ReadAudit = Pick<AuditLog, "findMarks" | "find" | "findLoss">;

const SAVE_MS = 1_000;
/** The clocks of machines that share a database may differ by so much. */
const CLOCKS_MS = 300_000;
/** A store that is closed does not wait longer for a database that does not answer. */
const CLOSE_MS = 2_000;

interface SeenAuditOptions {
  witness: AuditWitness;
  logger: Logger;
  now: () => number;
  /** Whether nothing is written. */
  onlyReads?: boolean;
}

/** Compares the audit with what this process and others on this machine have seen of it, and remembers what they see. */
export class SeenAudit {
  readonly #options: SeenAuditOptions;
  /** What this process wrote or verified last, by tenant. */
  readonly #own = new Map<string, SeenPlace>();
  readonly #reported = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #isDirty = false;
  #audit: ReadAudit | undefined;

  constructor(options: SeenAuditOptions) {
    this.#options = options;
  }

  /** Notes records that were appended behind `before`. */
  noteAppended(audit: ReadAudit, tenant: string, { before, last }: { before: ChainPlace; last: ChainPlace }): void {
    const own = this.#own.get(tenant);
    // Others may have appended as well. What is behind it was put back, and must not be forgotten.
    const isPutBack = own && (before.seq < own.seq || (before.seq === own.seq && before.hash !== own.hash));
    if (!isPutBack) this.#own.set(tenant, { ...last, at: this.#options.now() });
    this.#saveLater(audit);
  }

  /** Notes the newest record of a chain that was verified. */
  noteVerified(audit: ReadAudit, tenant: string, head: ChainPlace): void {
    const own = this.#own.get(tenant);
    if (head.seq > (own?.seq ?? 0)) this.#own.set(tenant, { ...head, at: this.#options.now() });
    if (head.seq > 0) this.#saveLater(audit);
  }

  /** What has to be there. To be read before the chain is. */
  async expectations(audit: ReadAudit): Promise<Expectations> {
    const loss = await audit.findLoss();
    const kept = await this.#options.witness.load();
    return new Expectations(kept, { own: this.#own, loss });
  }

  /** Nothing of before is expected any more. Returns what was, and how many losses were known. */
  async forget(audit: ReadAudit): Promise<{ until: Record<string, number>; known: number }> {
    const { kept, places } = await this.expectations(audit);
    const until: Record<string, number> = {};
    for (const [tenant, seen] of places) until[tenant] = Math.max(...seen.map(({ seq }) => seq));
    return { until, known: kept instanceof WitnessChanged ? 0 : kept.losses };
  }

  /** After a loss was recorded: what is there now is right. */
  async startAgain(loss: KnownLoss): Promise<void> {
    this.#own.clear();
    await this.#options.witness.update(async () => ({ losses: loss.number, places: new Map() }));
  }

  /** Writes what was noted. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isDirty || this.#saving) await within(this.#save(), CLOSE_MS);
  }

  #saveLater(audit: ReadAudit): void {
    if (this.#options.onlyReads === true) return;
    this.#audit = audit;
    this.#isDirty = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#save();
    }, SAVE_MS).unref();
  }

  async #save(): Promise<void> {
    await this.#saving;
    const audit = this.#audit;
    if (!audit || !this.#isDirty) return;
    this.#isDirty = false;
    this.#saving = this.#write(audit).finally(() => (this.#saving = undefined));
    await this.#saving;
  }

  async #write(audit: ReadAudit): Promise<void> {
    const { witness } = this.#options;
    try {
      await witness.update(async (kept) => {
        if (!(kept instanceof WitnessChanged)) return this.#compared(audit, kept);
        this.#report(witness.file, changed(witness.file));
        return undefined;
      });
    } catch (error) {
      this.#report("", `what the audit contains cannot be noted in ${witness.file}: ${messageOf(error)}`);
    }
  }

  /** What is known from now on: the newest records, or those that should be there and are not. */
  async #compared(audit: ReadAudit, kept: Seen): Promise<Seen> {
    const loss = await audit.findLoss();
    const expected = new Expectations(kept, { own: this.#own, loss });
    const places = new Map<string, SeenPlace>();
    for (const tenant of new Set([...kept.places.keys(), ...this.#own.keys()])) {
      const missing = await expected.findMissing(audit, tenant);
      if (missing) {
        places.set(tenant, missing.place);
        this.#report(tenant, `the audit of the tenant "${tenant}" was put back to an older state: ${missing.problem}`);
        continue;
      }
      // What was lost on purpose is not expected any more.
      const own = this.#own.get(tenant);
      if (own && expected.places.get(tenant)?.includes(own) !== true) this.#own.delete(tenant);
      const { head } = await audit.findMarks(tenant);
      if (head) places.set(tenant, { seq: head.mark.seq, hash: head.mark.hash, at: this.#options.now() });
    }
    return { losses: Math.max(kept.losses, loss?.number ?? 0), places };
  }

  /** Once. */
  #report(what: string, problem: string): void {
    if (this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#options.logger.error(problem);
  }
}

interface MissingRecord {
  place: SeenPlace;
  problem: string;
}

/** What has to be in an audit, because it was seen there. */
export class Expectations {
  readonly kept: Seen | WitnessChanged;
  /** By tenant. */
  readonly places = new Map<string, SeenPlace[]>();
  /** Why nothing can be said; undefined where it can. */
  readonly problem: string | undefined;

  constructor(
    kept: Seen | WitnessChanged,
    { own, loss }: { own: ReadonlyMap<string, SeenPlace>; loss: KnownLoss | undefined },
  ) {
    this.kept = kept;
    const known = kept instanceof WitnessChanged ? 0 : kept.losses;
    const number = loss?.number ?? 0;
    if (kept instanceof WitnessChanged) this.problem = changed(kept.file);
    else if (number < known)
      this.problem = `the database does not know any more that records were lost (${known} times)`;
    const add = (tenant: string, place: SeenPlace, isBefore: boolean) => {
      if (isBefore && place.seq <= (loss?.until[tenant] ?? 0)) return;
      this.places.set(tenant, [...(this.places.get(tenant) ?? []), place]);
    };
    const isNew = number > known;
    if (!(kept instanceof WitnessChanged)) for (const [tenant, place] of kept.places) add(tenant, place, isNew);
    // Another process on this machine may have heard of the loss and noted that for all.
    for (const [tenant, place] of own) add(tenant, place, place.at < (loss?.at ?? 0) + CLOCKS_MS);
  }

  /** The first record of a tenant that was seen and is not there. */
  async findMissing(audit: ReadAudit, tenant: string): Promise<MissingRecord | undefined> {
    for (const place of this.places.get(tenant) ?? []) {
      const problem = await problemOf(audit, tenant, place);
      if (problem !== undefined) return { place, problem };
    }
    return undefined;
  }
}

/** What every problem says that an older state of the database explains. */
export const PUT_BACK = "an older state was put back";

async function problemOf(audit: ReadAudit, tenant: string, { seq, hash, at }: SeenPlace): Promise<string | undefined> {
  const { head, checkpoint } = await audit.findMarks(tenant);
  const newest = head?.mark.seq ?? 0;
  const seen = `record ${seq} was there on ${isoTime(at)}`;
  if (newest < seq) return `the audit ends at record ${newest}, and ${seen}: ${PUT_BACK}`;
  const removed = checkpoint?.mark;
  // Removed when their retention ended.
  if (removed && removed.seq > seq) return undefined;
  const found = removed?.seq === seq ? removed.hash : (await audit.find(tenant, seq))?.hash;
  return found === hash ? undefined : `${seen} with another content: ${PUT_BACK}, and others followed`;
}

function changed(file: string): string {
  return `${file}, which says what this machine has seen of the audit, was changed`;
}
