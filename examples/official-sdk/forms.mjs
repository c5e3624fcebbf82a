// elicitationFormExample: tools that ask the user for forms, one of them in two steps.
import { McpServer, serveHttp } from "nexus-mcp/server";

const server = new McpServer({ name: "forms", version: "1.0.0" });
const form = (message, properties, required) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});

const registration = form(
  "Please register:",
  {
    username: { type: "string", title: "Username", minLength: 3, maxLength: 20 },
    email: { type: "string", title: "Email", format: "email" },
    password: { type: "string", title: "Password", description: "At least 8 characters", minLength: 8 },
    newsletter: { type: "boolean", title: "Newsletter", default: false },
    role: {
      type: "string",
      title: "Role",
      oneOf: ["developer", "designer", "manager", "other"].map((each) => ({ const: each, title: each })),
      default: "developer",
    },
    interests: {
      type: "array",
      title: "Interests",
      items: { type: "string", enum: ["frontend", "backend", "mobile", "devops", "ai"] },
      minItems: 1,
      maxItems: 3,
    },
  },
  ["username", "email", "password"],
);
const basics = form(
  "Step 1: the event",
  { title: { type: "string", title: "Title", minLength: 1 }, description: { type: "string", title: "Description" } },
  ["title"],
);
const time = form(
  "Step 2: date and time",
  {
    date: { type: "string", title: "Date", format: "date" },
    startTime: { type: "string", title: "Start", description: "HH:MM" },
    duration: { type: "integer", title: "Duration", description: "In minutes", minimum: 15, maximum: 480 },
  },
  ["date", "startTime", "duration"],
);
const address = form(
  "Please enter your address:",
  {
    name: { type: "string", title: "Name", minLength: 1 },
    street: { type: "string", title: "Street", minLength: 1 },
    city: { type: "string", title: "City", minLength: 1 },
    state: { type: "string", title: "State", minLength: 2, maxLength: 2 },
    zipCode: { type: "string", title: "ZIP code", description: "Five digits" },
    phone: { type: "string", title: "Phone" },
  },
  ["name", "street", "city", "state", "zipCode"],
);

server.tool("register_user", { description: "Registers a user." }, async (_args, { ask }) => {
  const { user } = await ask({ user: registration });
  if (user.action !== "accept") return "Nobody was registered.";
  const { username, email, newsletter } = user.content;
  return `Registered.\n\nUsername: ${username}\nEmail: ${email}\nNewsletter: ${newsletter ? "yes" : "no"}`;
});

server.tool("create_event", { description: "Enters an event into the calendar." }, async (_args, { ask }) => {
  const { what } = await ask({ what: basics });
  if (what.action !== "accept") return "No event was created.";
  const { when } = await ask({ when: time });
  if (when.action !== "accept") return "No event was created.";
  return `Created.\n\n${JSON.stringify({ ...what.content, ...when.content }, null, 2)}`;
});

server.tool("update_shipping_address", { description: "Changes the address of a user." }, async (_args, { ask }) => {
  const { where } = await ask({ where: address });
  if (where.action !== "accept") return "The address is as it was.";
  return `Changed.\n\n${JSON.stringify(where.content, null, 2)}`;
});

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => void serving.close());
