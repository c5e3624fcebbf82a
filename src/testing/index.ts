/** For the tests of programs that use Nexus: servers in the same process, without a wire. */
export { MemoryTransport, type MemoryPeer } from "../transport/memory.ts";
export { ScriptedError } from "./scripted-error.ts";
export type { Answer, Handler, ScriptContext } from "./scripted-connection.ts";
export type { PromptScript, ResourceScript, ServerScript, ToolScript } from "./scripted-features.ts";
export { ScriptedServer } from "./scripted-server.ts";
