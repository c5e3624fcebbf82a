interface ConcurrentOptions<R> {
  /** How many run at the same time. */
  limit: number;
  /** Receives the results in the order of the items, each as soon as those before it are complete. */
  onResult?: (result: R) => void;
}

/** Runs an action for every item, a limited number at the same time. Results are in the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  run: (item: T) => Promise<R>,
  { limit, onResult }: ConcurrentOptions<R>,
): Promise<R[]> {
  const results: R[] = [];
  const early = new Map<number, R>();
  let next = 0;
  const report = (index: number, result: R) => {
    early.set(index, result);
    while (early.has(results.length)) {
      const value = early.get(results.length) as R;
      early.delete(results.length);
      results.push(value);
      onResult?.(value);
    }
  };
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      report(index, await run(items[index] as T));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
