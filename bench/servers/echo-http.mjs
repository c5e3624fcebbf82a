// A tiny server over Streamable HTTP, in both eras.
import { respond } from "./echo.mjs";
import { serveHttp } from "./http.mjs";

serveHttp(respond);
