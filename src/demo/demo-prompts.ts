import { oneOf } from "../server/features/completion.ts";
import type { McpServer } from "../server/features/mcp-server.ts";

const TONES = ["cheerful", "formal", "poetic", "terse"];

export function addDemoPrompts(server: McpServer): void {
  server.prompt(
    {
      name: "postcard",
      title: "Write a postcard",
      description: "Asks the model for a postcard from a place, in a tone of your choice.",
      arguments: [
        { name: "place", description: "Where the postcard comes from", required: true },
        { name: "tone", description: `One of ${TONES.join(", ")}` },
      ],
    },
    ({ place = "", tone = "cheerful" }) => ({
      description: `A ${tone} postcard from ${place}`,
      messages: [
        {
          role: "user",
          content: { type: "text", text: `Write a ${tone} postcard from ${place}, in at most three sentences.` },
        },
      ],
    }),
    { complete: { tone: oneOf(...TONES), place: oneOf("Lisbon", "Ljubljana", "Reykjavik", "Vienna") } },
  );
}
