// Large lists and results over stdio: node large-stdio.mjs <tools a page>
import { respondWith } from "./large.mjs";
import { serveStdio } from "./stdio.mjs";

serveStdio(respondWith(Number(process.argv[2])));
