import { oneOf, type Part, present, readStatus } from "../../../format/part.ts";
import { readTimeout } from "./read-upstream.ts";
import type { CheckSpec, FakeFailure } from "../model/tool-file.ts";

const FAILURES = ["status", "delay", "cut", "broken", "offSchema"] as const;

export function readChecks(part: Part): CheckSpec[] {
  const names = new Set<string>();
  return part.items().map((item) => {
    const check = readCheck(item);
    if (names.has(check.name)) item.part("name").error(`another check is called "${check.name}"`);
    names.add(check.name);
    return check;
  });
}

function readCheck(part: Part): CheckSpec {
  part.members(["name", "call", "expect", "fake"], ["name", "call", "expect"]);
  const expect = part.part("expect");
  expect.members(["error", "structuredContent", "text"]);
  if (expect.isMap && expect.entries().length === 0)
    expect.error("expects nothing", "Give error, text or structuredContent.");
  return present({
    name: part.part("name").text() ?? "",
    call: part.part("call").record(),
    expect: present({
      error: expect.part("error").text(),
      structuredContent: expect.part("structuredContent").value(),
      text: expect.part("text").text(),
    }),
    fake: part.has("fake") ? readFailure(part.part("fake")) : undefined,
    failing: part.has("fake") ? part.part("fake").part("tool").text() : undefined,
  });
}

function readFailure(part: Part): FakeFailure | undefined {
  part.members([...FAILURES, "tool"]);
  const given = FAILURES.filter((kind) => part.has(kind));
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    if (part.isMap) part.error(`must say one way to fail: ${oneOf(FAILURES)}`);
    return undefined;
  }
  const value = part.part(kind);
  if (kind === "status") return { status: readStatus(value)[0] ?? 500 };
  if (kind === "delay") return { delayMs: readTimeout(value) ?? 0 };
  if (value.boolean() === false) value.error("must be true, or left out");
  if (kind === "cut") return { cut: true };
  return kind === "broken" ? { broken: true } : { offSchema: true };
}
