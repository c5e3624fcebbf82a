// What the tools of server.mjs return and ask for.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const file = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const text = { type: "string" };

export const image = { type: "image", data: PNG, mimeType: "image/png" };
export const sound = { type: "audio", data: WAV, mimeType: "audio/wav" };
export const resource = file("test://embedded-resource", "text/plain", "This is an embedded resource content.");
export const mixed = [
  { type: "text", text: "Multiple content types test:" },
  image,
  file("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
];

export const steps = ["Tool execution started", "Tool processing data", "Tool execution completed"];

const takes = (name) => ({ type: "object", properties: { [name]: text }, required: [name] });
export const askUser = { description: "Asks the user", inputSchema: takes("message") };
export const askModel = { description: "Asks the user's model", inputSchema: takes("prompt") };
export const user = { type: "object", properties: { username: text, email: text }, required: ["username"] };
