import type { Logger } from "../text/logger.ts";

/** Calls a function of the user. What it throws is logged: it must not end the connection or the process. */
export function callListener(run: () => unknown, logger: Logger): void {
  const report = (error: unknown) => logger.error("a listener threw", { error });
  try {
    const result = run();
    if (result instanceof Promise) result.catch(report);
  } catch (error) {
    report(error);
  }
}
