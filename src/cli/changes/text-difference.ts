/** A part of two texts: in both, or in one of them. */
export interface TextPiece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Beyond this many comparisons, the parts in the middle are shown as replaced. */
const MAX_COMPARED = 4_000_000;

/** What is different between two texts: by lines if they have several, otherwise by words. */
export function textDifference(before: string, after: string): TextPiece[] {
  const isLong = before.includes("\n") || after.includes("\n");
  return joined(compare(parts(before, isLong), parts(after, isLong)));
}

/** Parts that give the text again when they are joined. */
function parts(text: string, byLine: boolean): string[] {
  return text.match(byLine ? /[^\n]*\n|[^\n]+/g : /\s+|[^\s]+/g) ?? [];
}

function compare(before: readonly string[], after: readonly string[]): TextPiece[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++;
  }
  const tail = before.slice(before.length - end);
  return [
    ...asPieces("same", before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...asPieces("same", tail),
  ];
}

/** The longest common subsequence of both. */
function middle(before: readonly string[], after: readonly string[]): TextPiece[] {
  if (before.length * after.length > MAX_COMPARED) return [...asPieces("removed", before), ...asPieces("added", after)];
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: TextPiece[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i], after[j]];
    if (one !== undefined && one === other) {
      found.push({ kind: "same", text: one });
      i++;
      j++;
    } else if (one !== undefined && (other === undefined || at(i + 1, j) >= at(i, j + 1))) {
      found.push({ kind: "removed", text: one });
      i++;
    } else if (other !== undefined) {
      found.push({ kind: "added", text: other });
      j++;
    }
  }
  return found;
}

function asPieces(kind: TextPiece["kind"], texts: readonly string[]): TextPiece[] {
  return texts.map((text) => ({ kind, text }));
}

function joined(pieces: readonly TextPiece[]): TextPiece[] {
  const all: TextPiece[] = [];
  for (const { kind, text } of pieces) {
    const last = all.at(-1);
    if (last?.kind === kind) last.text += text;
    else all.push({ kind, text });
  }
  return all;
}
