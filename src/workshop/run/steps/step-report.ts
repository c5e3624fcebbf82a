/** What became of one step, for callers and logs. */
export interface StepReport {
  step: string;
  call: string;
  isWrite: boolean;
  state: "done" | "not needed" | "failed" | "running" | "unknown" | "not done";
  /** Of a step for each item of a list. */
  items?: { done: number; of: number };
  /** Whether an earlier run of the same call did it, or a part of it. */
  earlier?: true;
  /** The id of a write with unknown outcome. */
  id?: string;
}
