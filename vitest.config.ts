import { configDefaults, defineConfig } from "vitest/config";
import { isFull } from "./test/fixtures/depth.ts";

/** Soak tests and sweeps: minutes of work that a change rarely breaks. CI runs them with NEXUS_TEST=full. */
const IN_CI = [
  "test/gateway/access/access-property.test.ts",
  "test/gateway/faults/faults-callers.test.ts",
  "test/gateway/faults/hostile-servers.test.ts",
];

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(isFull ? [] : IN_CI)],
    globalSetup: ["test/setup.ts"],
    // Only what hangs takes this long. What is waited for comes at once on a quiet machine, and late on a busy one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // A process runs many files: to start one and load everything takes longer than most files.
    isolate: false,
    // Most tests wait for processes of theirs; more of them at a time than there are cores keep the cores busy.
    maxWorkers: 4,
  },
});
