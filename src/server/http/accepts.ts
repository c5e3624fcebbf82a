/** Whether a client takes such an answer; one that says nothing takes any. */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.includes(type) || accept.includes("*/*")) return true;
  // Types are the same in any case, and nearly always written in lower.
  return accept.toLowerCase().includes(type);
}
