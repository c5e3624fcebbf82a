import { parentPort, workerData } from "node:worker_threads";
import { ReadingProblem, type ReaderAnswer, type ReaderTask } from "../documents/apart/read-apart.ts";
import { blocksOf } from "../documents/manual/blocks/read-blocks.ts";

// The program of the thread that reads documents for people. It reads one and ends.
parentPort?.postMessage(await answerTo(workerData as ReaderTask), []);

async function answerTo(task: ReaderTask): Promise<ReaderAnswer> {
  try {
    if (task.kind === "blocks") return { result: await blocksOf(task.text, task.format) };
    const { pdfText } = await import("../documents/pdf/pdf-text.ts");
    return { result: await pdfText(task.bytes) };
  } catch (error) {
    if (error instanceof ReadingProblem) return { problem: error.message, fix: error.fix };
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}
