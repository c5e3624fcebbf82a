import { isRecord } from "../json/is-record.ts";

/** The names of capabilities for messages: `elicitation.url, sampling`. */
export function capabilityNames(capabilities: unknown): string {
  if (!isRecord(capabilities)) return "";
  return Object.entries(capabilities)
    .flatMap(([name, members]) => {
      const inner = isRecord(members) ? Object.keys(members) : [];
      return inner.length === 0 ? [name] : inner.map((member) => `${name}.${member}`);
    })
    .join(", ");
}
