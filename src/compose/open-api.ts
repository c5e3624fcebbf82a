import type { OpenApi } from "../host/servers/server-connector.ts";
import type { openApi as openFile, OpenApiOptions } from "../workshop/open-api.ts";

/** Opens tool files as servers. The workshop is loaded with the first one. */
export const openApi: OpenApi = openApiWith();

/** The same, with published APIs, or with what their servers keep in another place than files. */
export function openApiWith(options?: OpenApiOptions): OpenApi {
  return async (reach, surroundings) => {
    const workshop = await loadWorkshop();
    return workshop.openApi(reach, surroundings, options);
  };
}

/** A gateway loads it before the first API is published, so that this is served sooner. */
export function loadWorkshop(): Promise<{ openApi: typeof openFile }> {
  return import("../workshop/open-api.ts");
}
