/** API documentation to MCP servers: tool file, compilation, approval, server and fake. */
export { compileApi, type CompiledApi, type CompileProblem } from "./compile/compile.ts";
export type { Citation, CitedLines, CitedPart } from "./compile/citations.ts";
export { startFake, type Fake, type FakeOptions } from "./fake/fake.ts";
export { editToolFile, type ToolFileChange } from "./file/edit-tool-file.ts";
export type { Problem } from "../format/problem.ts";
export { readToolFile } from "./file/read-tool-file.ts";
export type * from "./file/model/tool-file.ts";
export { loadApi, loadApproved, type ApprovedApi, type LoadedApi } from "./load-api.ts";
export { openApi } from "./open-api.ts";
export type { ApiChange, ApiChangeKind } from "./review/api-change.ts";
export { differences } from "./review/differences.ts";
export { lockPath } from "../config/read/lock-path.ts";
export { approve, isApproved, readLock, type Approval, type Lock } from "./review/lock.ts";
export { ApiRunner, type ApiRunnerOptions, type RunOptions } from "./run/api-runner.ts";
export { FileWriteLedger } from "./run/writes/file-write-ledger.ts";
export { MemoryWriteLedger, type WriteLedger } from "./run/writes/write-ledger.ts";
export { apiServer, transportTo, type ApiServerOptions } from "./serve/api-server.ts";
