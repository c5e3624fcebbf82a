// Loaded into every gateway that is measured, ours or not: tells its parent what the process has used.
process.on("message", (question) => {
  if (question !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() });
});
