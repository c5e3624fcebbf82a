// Loaded into every gateway that is measured, ours or not: tells its parent what the process has used, and where its time goes.
import { Session } from "node:inspector/promises";

let session;

process.on("message", async (question) => {
  if (question === "usage") {
    const { user, system } = process.cpuUsage();
    process.send({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() });
  } else if (question === "profile") {
    session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: 200 });
    await session.post("Profiler.start");
    process.send({});
  } else if (question === "profiled") {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    process.send(profile);
  }
});
