import { existsSync } from "node:fs";
import { withLock } from "../../../files/file-lock.ts";
import { entryIn, isHarmless, spoiledLedger } from "./ledger-line.ts";
import { LineFile } from "../../../files/line-file.ts";

export interface LedgerImport {
  /** Not changed: other ledgers may also copy it. */
  from: string;
  to: string;
  platform: NodeJS.Platform;
}

/** Creates a ledger with the records of an older one; does nothing if it exists or there is no older one. */
export async function importLedger({ from, to, platform }: LedgerImport): Promise<void> {
  if (existsSync(to) || !existsSync(from)) return;
  await withLock(to, async ({ check }) => {
    if (existsSync(to)) return;
    const former = new LineFile(from, platform);
    await former.readOn({
      restart() {},
      line(text) {
        if (!entryIn(text) && !isHarmless(text)) throw spoiledLedger(from);
      },
    });
    await new LineFile(to, platform).rewrite(entriesOf(former), check);
  });
}

async function* entriesOf(file: LineFile): AsyncGenerator<string> {
  for await (const { text } of file.lines()) if (entryIn(text)) yield text;
}
