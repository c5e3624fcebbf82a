import { parentPort, workerData } from "node:worker_threads";
import { NexusError } from "../../errors/nexus-error.ts";
import { ReadingProblem, type ReaderAnswer, type ReaderTask } from "../documents/apart/read-apart.ts";
import { sendable } from "../documents/apart/sendable.ts";
import type { ManualBlocks } from "../documents/manual/blocks/read-blocks.ts";

// The program of the thread that reads documents and tool files for people. It reads one and ends.
parentPort?.postMessage(await answerTo(workerData as ReaderTask), []);

async function answerTo(task: ReaderTask): Promise<ReaderAnswer> {
  try {
    return { result: await resultOf(task) };
  } catch (error) {
    if (error instanceof ReadingProblem) return { problem: error.message, fix: error.fix };
    if (error instanceof RangeError) return { problem: error.message };
    if (!(error instanceof NexusError)) throw error;
    const { code, message, details } = error;
    // A cause may be something that cannot be sent.
    return { refused: { code, message, details: { ...details, cause: undefined } } };
  }
}

async function resultOf(task: ReaderTask): Promise<unknown> {
  switch (task.kind) {
    case "pdf":
      return (await import("../documents/pdf/pdf-text.ts")).pdfText(task.bytes);
    case "blocks":
      return (await import("../documents/manual/blocks/read-blocks.ts")).blocksOf(task.text, task.format);
    case "manual": {
      const { factsOfManual } = await import("../documents/manual/read-manual.ts");
      return sendable(factsOfManual(task.document, task.blocks as ManualBlocks));
    }
    case "tool-file":
      return (await import("../load-api.ts")).loadApi(task.path);
    case "publication":
      return (await import("../publish/read-publication.ts")).compilePublication(task);
  }
}
