import { expect, test } from "vitest";
import { childEnvironment } from "./child-environment.ts";

test("a child gets a short list of variables, those of its entry, and those that it passes on (N2, R8)", () => {
  const variables = { PATH: "/bin", HOME: "/home/a", SECRET: "s", TOKEN: "t", LANG: undefined };
  expect(childEnvironment({ variables, platform: "linux" })).toEqual({ PATH: "/bin", HOME: "/home/a" });
  expect(
    childEnvironment({ variables, platform: "linux", env: { A: "1", PATH: "/own" }, passthrough: ["TOKEN"] }),
  ).toEqual({
    PATH: "/own",
    HOME: "/home/a",
    TOKEN: "t",
    A: "1",
  });
});

test("on Windows names are compared without case, and its own variables pass (P2.0)", () => {
  const variables = { Path: "C:\\bin", SystemRoot: "C:\\Windows", PATHEXT: ".EXE;.CMD", Secret: "s" };
  expect(childEnvironment({ variables, platform: "win32", env: { PATH: "D:\\bin" } })).toEqual({
    SystemRoot: "C:\\Windows",
    PATHEXT: ".EXE;.CMD",
    PATH: "D:\\bin",
  });
});
