import type { CountedOperation } from "./independent-reader.mjs";

interface Imported {
  tools: { operation: string; sent: string[] }[];
  omitted: { operation: string; reason: string }[];
}

export function compare(
  operations: Map<string, CountedOperation>,
  imported: Imported,
): { operations: number; made: number; counted: number; lost: string[]; unaccounted: string[] };

export function byReason(omitted: Imported["omitted"]): string;
