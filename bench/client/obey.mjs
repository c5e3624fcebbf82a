/** Runs in a process of its own what its parent tells it to, one command after the other. */
export function obey(commands) {
  process.on("message", (message) => void run(commands, message));
}

async function run(commands, { command, argument }) {
  try {
    process.send({ value: await commands[command](argument) });
  } catch (error) {
    process.send({ error: error.stack });
  }
  if (command === "close") process.disconnect();
}
