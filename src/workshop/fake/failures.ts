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
