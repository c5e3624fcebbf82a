import type { OpenApi } from "../host/servers/server-connector.ts";

/** Opens tool files as servers. The workshop is loaded with the first one. */
export const openApi: OpenApi = async (reach, surroundings) => {
  const workshop = await import("../workshop/open-api.ts");
  return workshop.openApi(reach, surroundings);
};
