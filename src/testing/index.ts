/** For the tests of programs that use Nexus: servers and models in the same process, without a wire. */
export { MemoryTransport, type MemoryPeer } from "../transport/memory.ts";
export {
  ScriptedError,
  type Answer,
  type Handler,
  type HandlerContext,
  type ScriptContext,
} from "./scripted-connection.ts";
export type { ServerScript, TextOr, ToolFunction } from "./server-script.ts";
export { ScriptedServer } from "./scripted-server.ts";
export {
  ScriptedModel,
  type ScriptedAnswer,
  type ScriptedChoice,
  type ScriptedModelOptions,
  type ScriptedMove,
} from "./scripted-model.ts";
