import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { hasPostgres, PostgresServer } from "./fixtures/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the shared PostgreSQL server; empty if it is not installed. */
    postgres: string;
  }
}

/** Tests start built servers as child processes. `npm test` builds first; a bare `vitest` builds what is missing. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = [
    "dist/index.js",
    "dist/demo/main.js",
    "build/fixtures/everything.cjs",
    "build/fixtures/store-writer.js",
  ];
  if (!built.every((file) => existsSync(file))) execFileSync("npm", ["run", "build"], { stdio: "inherit" });
  // If it does not start, test/store fails, and the other tests run.
  const postgres = hasPostgres ? await PostgresServer.start().catch(() => undefined) : undefined;
  project.provide("postgres", postgres?.url ?? "");
  return async () => postgres?.[Symbol.asyncDispose]();
}
