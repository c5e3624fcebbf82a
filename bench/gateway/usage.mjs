// Loaded into every gateway that is measured, ours or not: tells its parent what the process has used, and where its time goes.
import { Session } from "node:inspector/promises";

const session = new Session();

const ANSWERS = {
  usage() {
    const { user, system } = process.cpuUsage();
    return { cpuUs: user + system, rssBytes: process.memoryUsage.rss() };
  },
  async profile() {
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: 200 });
    await session.post("Profiler.start");
    return {};
  },
  async profiled() {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return profile;
  },
};

process.on("message", (question) => {
  void (async () => {
    const answer = ANSWERS[question];
    if (answer) process.send(await answer());
  })();
});
