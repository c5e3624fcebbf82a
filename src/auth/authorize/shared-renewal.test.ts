import { expect, test } from "vitest";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { failure } from "../../../test/fixtures/failure.ts";
import { SharedRenewal } from "./oauth-credentials.ts";

/** Renewals that end when the test says so. */
function renewals() {
  const started: { abandoned: CancelSignal; end: () => void; fail: (error: Error) => void }[] = [];
  const renew = (abandoned: CancelSignal) =>
    new Promise<void>((resolve, reject) => started.push({ abandoned, end: resolve, fail: reject }));
  return { started, renew };
}

test("requests at the same time share one renewal; the next one starts another", async () => {
  const { started, renew } = renewals();
  const shared = new SharedRenewal();
  const both = Promise.all([shared.run(renew, undefined), shared.run(renew, undefined)]);
  started[0]?.end();
  await both;
  expect(started).toHaveLength(1);
  const third = shared.run(renew, undefined);
  started[1]?.end();
  await third;
  expect(started).toHaveLength(2);
});

test("one request that leaves does not end the renewal of the others, and all see its failure", async () => {
  const { started, renew } = renewals();
  const shared = new SharedRenewal();
  const leaving = new Cancellation();
  const [left, stayed] = [failure(shared.run(renew, leaving)), shared.run(renew, undefined)];
  leaving.abort("enough");
  expect((await left).code).toBe("CANCELLED");
  expect(started[0]?.abandoned.aborted).toBe(false);
  started[0]?.fail(new Error("refused"));
  await expect(stayed).rejects.toThrow("refused");
});

test("a request after an abandoned renewal waits for its end and is not cancelled with it", async () => {
  const { started, renew } = renewals();
  const shared = new SharedRenewal();
  const leaving = new Cancellation();
  const left = failure(shared.run(renew, leaving));
  leaving.abort("enough");
  await left;
  expect(started[0]?.abandoned.aborted).toBe(true);

  const next = shared.run(renew, undefined);
  expect(started).toHaveLength(1);
  started[0]?.fail(new Error("abandoned"));
  await expect.poll(() => started.length).toBe(2);
  started[1]?.end();
  await next;
});
