// Large lists and results over Streamable HTTP: node large-http.mjs <tools a page>
import { serveHttp } from "./http.mjs";
import { respondWith } from "./large.mjs";

serveHttp(respondWith(Number(process.argv[2])));
