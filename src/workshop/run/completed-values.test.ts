import { expect, test } from "vitest";
import { fileOf } from "../../../test/fixtures/tool-file.ts";
import { codecFor } from "../codec/codec-for.ts";
import type { Shape } from "../file/model/tool-file.ts";
import { CompletedValues } from "./completed-values.ts";

const object = (type: string): Shape => ({ kind: "object", type });

/** Flights and trains differ only inside of `seat`. */
const TYPES = {
  FlightSeat: { fields: { row: { type: "integer" } } },
  TrainSeat: { fields: { row: { type: "string" } } },
  Flight: { fields: { kind: { const: "flight" }, seat: { shape: object("FlightSeat"), wire: "flightSeat" } } },
  Train: { fields: { kind: { const: "train" }, seat: { shape: object("TrainSeat"), wire: "trainSeat" } } },
  Root: { fields: { trip: { shape: { kind: "union", of: [object("Flight"), object("Train")] } as Shape } } },
};

test("X5: a value is completed and sent as the same alternative, also if only its inner parts tell which one it is", () => {
  const file = fileOf(TYPES);
  const whole = new CompletedValues(file, "input").complete("Root", { trip: { seat: { row: "A" } } }, {});
  expect(whole).toEqual({ trip: { kind: "train", seat: { row: "A" } } });
  expect(JSON.parse(codecFor(file, "Root", "json").encode(whole))).toEqual({
    trip: { kind: "train", trainSeat: { row: "A" } },
  });
});
