import { changedRuns, type ChangedRun } from "../../text/text-difference.ts";

/** One place where two texts differ. */
interface TextChange {
  /** The number of characters before it in the new text. */
  at: number;
  removed: string;
  added: string;
  /** A few words around it, for finding the place. */
  lead: string;
  rest: string;
}

/** Words, runs of blanks, and all other characters one by one. */
const PIECES = /[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{N}_]+|\s+|[^]/gu;
/** Changes with fewer pieces between them are joined. */
const NEAR = 4;
const AROUND = 8;

/** All places where two texts differ, with what was removed and added. */
export function textChanges(before: string, after: string): TextChange[] {
  const [old, now] = [before.match(PIECES) ?? [], after.match(PIECES) ?? []];
  return joined(changedRuns(old, now)).map(({ before: was, after: is }) => ({
    at: now.slice(0, is.from).join("").length,
    removed: old.slice(was.from, was.to).join(""),
    added: now.slice(is.from, is.to).join(""),
    lead: now.slice(Math.max(0, is.from - AROUND), is.from).join(""),
    rest: now.slice(is.to, is.to + AROUND).join(""),
  }));
}

function joined(runs: readonly ChangedRun[]): ChangedRun[] {
  const result: ChangedRun[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    if (last && run.after.from - last.after.to < NEAR) {
      last.before.to = run.before.to;
      last.after.to = run.after.to;
    } else {
      result.push(run);
    }
  }
  return result;
}
