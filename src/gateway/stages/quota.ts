import type { Allowance } from "../operation/allowance.ts";
import type { Stage } from "../requests/request.ts";

interface QuotaOptions {
  allowance?: Allowance | undefined;
}

/** How many calls of a principal run at once. How many come in a time is counted before anything is done for them. */
export function quota({ allowance }: QuotaOptions): Stage[] {
  if (!allowance) return [];
  return [
    async (request, next) => {
      const running = allowance.enter(request.exchange.principal);
      try {
        return await next(request);
      } finally {
        running?.leave();
      }
    },
  ];
}
