import { expect, test } from "vitest";
import { GivenAnswers } from "./given-answers.ts";

test("each answer is used for one question, in the order they were given", () => {
  const answers = new GivenAnswers(["ok=yes", "ok=no"]);
  expect([answers.take("a", "ok"), answers.take("b", "ok"), answers.take("c", "ok")]).toEqual(["yes", "no", undefined]);
});

test("an answer for a certain question is used for no other, and before a general one", () => {
  const answers = new GivenAnswers(["ok=any", "second.ok=its own"]);
  expect(answers.take("first", "ok")).toBe("any");
  expect(answers.take("second", "ok")).toBe("its own");
});

test("answers of repeated questions are kept; used up and invalid ones are not", () => {
  const answers = new GivenAnswers(["a=1", "b=2", "c=3", "later=4"]);
  answers.take("round one", "a");
  answers.take("open", "b");
  answers.take("open", "c");
  answers.drop("open", "c");
  expect(answers.goodFor(["open"])).toEqual(["b=2", "later=4"]);
  answers.begin("open");
  expect(answers.goodFor(["open"])).toEqual(["later=4"]);
});
