import type { OpenApi } from "../host/servers/server-connector.ts";

/** Makes servers of tool files. The workshop is loaded with the first of them. */
export const openApi: OpenApi = async (reach, surroundings) => {
  const workshop = await import("../workshop/open-api.ts");
  return workshop.openApi(reach, surroundings);
};
