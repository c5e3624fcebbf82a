import type { ConsentAnswer, ToolConsent, WantedCall } from "./tool-consent.ts";

/** Allows tools that are annotated as read-only, and denies others without a question. */
export class ReadOnlyConsent implements ToolConsent {
  async decide({ annotations }: WantedCall): Promise<ConsentAnswer> {
    if (annotations.readOnlyHint === true) return { kind: "allowed" };
    return { kind: "denied", reason: "the tool is not annotated as read-only, and no user can be asked" };
  }
}
