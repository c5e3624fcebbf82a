import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is waited for comes at once on a quiet machine, and takes many seconds on a busy one.
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    // Most tests wait for processes of theirs; more of them at a time than there are cores keep the cores busy.
    maxWorkers: 4,
  },
});
