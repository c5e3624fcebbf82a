import type { FakeFailure } from "../file/model/tool-file.ts";

interface Planned {
  failure: FakeFailure;
  left: number;
  tool: string | undefined;
}

/** How the next requests fail. */
export class Failures {
  #planned: Planned[] = [];

  /** `tool`: only its requests; default: all. */
  add(failure: FakeFailure, times: number, tool?: string): void {
    this.#planned.push({ failure, left: times, tool });
  }

  clear(): void {
    this.#planned = [];
  }

  /** The failure of this request, if any; counts it. */
  next(tool: string): FakeFailure | undefined {
    const planned = this.#planned.find((one) => one.tool === undefined || one.tool === tool);
    if (!planned) return undefined;
    planned.left -= 1;
    if (planned.left <= 0) this.#planned = this.#planned.filter((one) => one !== planned);
    return planned.failure;
  }
}

/** A failure in JSON: `{"status": 503}`, `{"cut": true}`; undefined for anything else. */
export function failureIn(value: unknown): FakeFailure | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { status, delayMs, cut, broken, offSchema } = value as Record<string, unknown>;
  if (typeof status === "number" && Number.isInteger(status) && status >= 200 && status <= 599) return { status };
  if (typeof delayMs === "number" && delayMs >= 0 && delayMs <= 3_600_000) return { delayMs };
  if (cut === true) return { cut };
  if (broken === true) return { broken };
  return offSchema === true ? { offSchema } : undefined;
}
