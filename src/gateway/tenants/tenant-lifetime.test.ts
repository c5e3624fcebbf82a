import { describe, expect, test } from "vitest";
import { Cancellation } from "../../async/cancellation.ts";
import { Deadlines } from "../../async/deadlines.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { SILENT } from "../../text/logger.ts";
import type { TenantHost } from "./tenant-host.ts";
import { TenantLifetime, type LifetimeOptions } from "./tenant-lifetime.ts";

/** Openings and closings that end when the test says so. */
class Openings {
  readonly log: string[] = [];
  readonly ending = new Cancellation();
  readonly deadlines = new Deadlines();
  isAwaited = false;
  opening: Promise<unknown> = Promise.resolve();
  closing: Promise<unknown> = Promise.resolve();

  lifetime(options: Partial<LifetimeOptions> = {}): TenantLifetime {
    return new TenantLifetime({
      open: () => this.#open(),
      report: (thrown) => new NexusError("CLOSED", `reported: ${asNexusError(thrown).message}`),
      idleMs: 600_000,
      openMs: 60_000,
      drainMs: 60_000,
      deadlines: this.deadlines,
      ending: this.ending,
      logger: SILENT,
      ...options,
    });
  }

  async #open(): Promise<TenantHost> {
    this.log.push("opening");
    await this.opening;
    this.log.push("open");
    const isAwaited = () => this.isAwaited;
    // A lifetime looks at nothing else of its host.
    return {
      get isAwaited() {
        return isAwaited();
      },
      close: () => this.#close(),
    } as TenantHost;
  }

  async #close(): Promise<void> {
    this.log.push("closing");
    await this.closing;
    this.log.push("closed");
  }
}

/** A promise, and the function that fulfils it. */
function held(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

describe("the host of a tenant", () => {
  test("is opened once for callers that come at the same time", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime();
    const hosts = await Promise.all(Array.from({ length: 20 }, () => lifetime.enter()));
    expect(new Set(hosts).size).toBe(1);
    expect(openings.log).toEqual(["opening", "open"]);
  });

  test("is closed when it was not used for a while, and opened again with the next use", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime({ idleMs: 1 });
    await lifetime.enter();
    lifetime.leave();
    await expect.poll(() => openings.log.at(-1)).toBe("closed");
    expect(lifetime.opened).toBeUndefined();
    await lifetime.enter();
    expect(openings.log).toEqual(["opening", "open", "closing", "closed", "opening", "open"]);
    expect(lifetime.opened).toBeDefined();
  });

  test("stays open while somebody uses it, however long that takes", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime({ idleMs: 0 });
    await lifetime.enter();
    await lifetime.enter();
    lifetime.leave();
    expect(lifetime.remainingMs).toBe(Infinity);
    expect(openings.log).toEqual(["opening", "open"]);
    lifetime.leave();
    await expect.poll(() => openings.log.at(-1)).toBe("closed");
  });

  test("stays open while a caller may come back for a call or a task", async () => {
    const openings = new Openings();
    openings.isAwaited = true;
    const lifetime = openings.lifetime({ idleMs: 1 });
    await lifetime.enter();
    lifetime.leave();
    expect(lifetime.remainingMs).toBeLessThanOrEqual(1);
    lifetime.expire();
    expect(lifetime.opened).toBeDefined();
    openings.isAwaited = false;
    await expect.poll(() => openings.log.at(-1)).toBe("closed");
  });

  test("is opened again only after it was closed completely", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime();
    await lifetime.enter();
    lifetime.leave();
    const closing = held();
    openings.closing = closing.promise;
    lifetime.expire();
    const entering = Promise.all([lifetime.enter(), lifetime.enter()]);
    await Promise.resolve();
    expect(openings.log).toEqual(["opening", "open", "closing"]);
    closing.resolve();
    await entering;
    expect(openings.log).toEqual(["opening", "open", "closing", "closed", "opening", "open"]);
  });

  test("that cannot be opened is tried again after a pause; until then callers get the same error at once", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime();
    openings.opening = Promise.reject(new Error("away"));
    await expect(lifetime.enter()).rejects.toMatchObject({ code: "CLOSED", message: "reported: away" });
    openings.opening = Promise.resolve();
    await expect(lifetime.enter()).rejects.toMatchObject({ message: "reported: away" });
    expect(openings.log).toEqual(["opening"]);
    expect(lifetime.isUnknown).toBe(true);
    await expect
      .poll(
        () =>
          lifetime.enter().then(
            () => "in",
            () => "refused",
          ),
        { interval: 100 },
      )
      .toBe("in");
    expect(openings.log).toEqual(["opening", "opening", "open"]);
    expect(lifetime.isUnknown).toBe(false);
  });

  test("that opens slowly keeps its callers waiting only so long, and is there for later ones", async () => {
    const openings = new Openings();
    const opening = held();
    openings.opening = opening.promise;
    const lifetime = openings.lifetime({ openMs: 1 });
    await expect(lifetime.enter()).rejects.toMatchObject({
      code: "CLOSED",
      message: "The servers of this tenant are still starting. Retry later",
    });
    opening.resolve();
    await expect.poll(() => lifetime.opened).toBeDefined();
    expect(openings.log).toEqual(["opening", "open"]);
  });

  test("lets a caller go that does not want to wait any more", async () => {
    const openings = new Openings();
    const opening = held();
    openings.opening = opening.promise;
    const lifetime = openings.lifetime({ idleMs: 1 });
    const left = new Cancellation();
    const entering = lifetime.enter(left);
    left.abort(new Error("gone"));
    await expect(entering).rejects.toMatchObject({ code: "CANCELLED" });
    opening.resolve();
    // Nobody uses it.
    await expect.poll(() => openings.log.at(-1)).toBe("closed");
  });

  test("that is being opened when the gateway closes is closed when it is there; callers are turned away at once", async () => {
    const openings = new Openings();
    const opening = held();
    openings.opening = opening.promise;
    const lifetime = openings.lifetime();
    const entering = lifetime.enter();
    openings.ending.abort(new Error("over"));
    await expect(entering).rejects.toMatchObject({ message: "The gateway is shutting down" });
    const closing = lifetime.close();
    opening.resolve();
    await closing;
    expect(openings.log).toEqual(["opening", "open", "closing", "closed"]);
    await expect(lifetime.enter()).rejects.toMatchObject({ message: "The gateway is shutting down" });
  });

  test("does not keep the gateway from closing when its opening never ends", async () => {
    const openings = new Openings();
    const opening = held();
    openings.opening = opening.promise;
    const lifetime = openings.lifetime({ drainMs: 1 });
    lifetime.enter().catch(() => {});
    openings.ending.abort(new Error("over"));
    await lifetime.close();
    expect(openings.log).toEqual(["opening"]);
    opening.resolve();
    await expect.poll(() => openings.log.at(-1)).toBe("closed");
  });

  test("is closed with the gateway, and waited for where it closes already", async () => {
    const openings = new Openings();
    const [used, closing] = [openings.lifetime(), openings.lifetime()];
    await used.enter();
    await closing.enter();
    closing.leave();
    closing.expire();
    openings.ending.abort(new Error("over"));
    await Promise.all([used.close(), closing.close()]);
    expect(openings.log.filter((what) => what === "closed")).toHaveLength(2);
  });

  test("tells those who follow it when it is closed and when there is another", async () => {
    const openings = new Openings();
    const lifetime = openings.lifetime();
    const heard: string[] = [];
    const stop = lifetime.follow({ suspend: () => heard.push("suspend"), resume: () => heard.push("resume") });
    await lifetime.enter();
    lifetime.leave();
    lifetime.expire();
    await lifetime.enter();
    expect(heard).toEqual(["resume", "suspend", "resume"]);
    stop();
    lifetime.leave();
    lifetime.expire();
    expect(heard).toHaveLength(3);
  });
});
