import { expect, test } from "vitest";
import { lacksVariables, referencesIn } from "./variables-check.ts";

test("every form of reference is found once, at any place", () => {
  const entry = {
    command: "${HOME}/bin",
    args: ["--key=${secret:api}", "${HOME}", "${env:PORT:-80}", "${input:token}"],
    headers: { T: "${file:~/my token}" },
    env: { A: "${workspaceFolder}/x", B: "$${NOT} ${1} ${}", C: "${command:pick}" },
  };
  expect(referencesIn(entry)).toEqual([
    { kind: "variable", name: "HOME", hasDefault: false },
    { kind: "secret", name: "api", hasDefault: false },
    { kind: "variable", name: "PORT", hasDefault: true },
    { kind: "input", name: "token", hasDefault: false },
    { kind: "file", name: "~/my token", hasDefault: false },
    { kind: "variable", name: "workspaceFolder", hasDefault: false },
    { kind: "other", name: "command:pick", hasDefault: false },
  ]);
});

test("references with a default, a folder or a stored secret are not missing", () => {
  const known = { isSet: (name: string) => name === "HOME", secrets: ["api"] };
  const lacking = (text: string) => lacksVariables(referencesIn(text), known);
  for (const text of ["${HOME}", "${PORT:-80}", "${userHome}", "${HOME:-${PORT}}", "${secret:api}", "plain"])
    expect(lacking(text)).toBe(false);
  for (const text of ["${PORT}", "${PORT:-${OTHER}}", "${secret:other}", "${command:x}"])
    expect(lacking(text)).toBe(true);
});
