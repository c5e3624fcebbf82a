import type { Recorder } from "../../server/core/receipt.ts";
import type { AuditContent, AuditRecord, AuditTrail } from "../operation/audit.ts";

interface CallToRecord {
  record: AuditRecord;
  content: AuditContent;
  onError: (error: unknown) => void;
}

/** A call that has ended, and is recorded as soon as the size of its answer is known. */
export class FinishedCall implements Recorder {
  readonly #audit: AuditTrail;
  readonly #call: CallToRecord;

  constructor(audit: AuditTrail, call: CallToRecord) {
    this.#audit = audit;
    this.#call = call;
  }

  /** A promise only where the answer has to wait for it. */
  record(bytes: number | undefined): Promise<void> | undefined {
    const { record, content, onError } = this.#call;
    record.responseBytes = bytes;
    try {
      const written = this.#audit.record(record, content);
      if (!written) return undefined;
      // What was refused because nothing can be recorded is not held up by its own record.
      if (this.#audit.isClosed && record.errorCode !== "STORE_UNAVAILABLE") return written;
      written.catch(onError);
    } catch (error) {
      onError(error);
    }
    return undefined;
  }
}
