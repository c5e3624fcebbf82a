// mcpServerOutputSchema: a tool whose result has a schema, on a pipe.
import { McpServer, serveStdio } from "nexus-mcp/server";
import * as z from "zod";

const server = new McpServer({ name: "output-schema", version: "1.0.0" });
const conditions = ["sunny", "cloudy", "rainy", "stormy", "snowy"];
const directions = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
const upTo = (limit) => Math.floor(Math.random() * limit);

server.tool(
  "get_weather",
  {
    description: "Tells the weather in a city.",
    input: z.object({
      city: z.string().describe("Name of the city"),
      country: z.string().describe("Code of the country, such as US"),
    }),
    output: z.object({
      temperature: z.object({ celsius: z.number(), fahrenheit: z.number() }),
      conditions: z.enum(conditions),
      humidity: z.number().min(0).max(100),
      wind: z.object({ speed_kmh: z.number(), direction: z.string() }),
    }),
  },
  () => {
    const celsius = upTo(350) / 10 - 5;
    return {
      temperature: { celsius, fahrenheit: Math.round(celsius * 18 + 320) / 10 },
      conditions: conditions[upTo(conditions.length)],
      humidity: upTo(101),
      wind: { speed_kmh: upTo(51), direction: directions[upTo(directions.length)] },
    };
  },
);

await serveStdio(server);
