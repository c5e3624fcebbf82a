import { parseDuration } from "../../text/duration.ts";
import type { FakeFailure } from "../../workshop/file/model/tool-file.ts";
import { wrongUsage } from "../command/command-line.ts";

/** `--fail status=503`, `delay=2s`, `cut`, `broken`, `off-schema`. */
export function failureOption(given: string): FakeFailure {
  const [kind = "", value = ""] = given.split("=", 2);
  const status = Number(value);
  const delayMs = parseDuration(value);
  if (kind === "status" && /^[2-5]\d\d$/.test(value)) return { status };
  if (kind === "delay" && delayMs !== undefined) return { delayMs };
  if (given === "cut") return { cut: true };
  if (given === "broken") return { broken: true };
  if (given === "off-schema") return { offSchema: true };
  throw wrongUsage(`--fail ${given} is no way to fail`, "Write status=503, delay=2s, cut, broken or off-schema.");
}
