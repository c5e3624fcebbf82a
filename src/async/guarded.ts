import type { Logger } from "../text/logger.ts";

/** Calls something of the user's, who may throw or reject: that must not take the connection, or the process, with it. */
export function guarded(run: () => unknown, logger: Logger): void {
  const report = (error: unknown) => logger.error("a listener threw", { error });
  try {
    const result = run();
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}
