// A tiny server over stdio, in both eras.
import { respond } from "./echo.mjs";
import { serveStdio } from "./stdio.mjs";

serveStdio(respond);
