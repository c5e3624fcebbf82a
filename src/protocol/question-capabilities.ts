import type { ClientCapabilities, Question } from "./mcp.ts";

/** Whether the declared capabilities include the kind and mode of the question. */
export function isDeclared({ method, params }: Question, declared: ClientCapabilities): boolean {
  const { elicitation, sampling, roots } = declared;
  switch (method) {
    case "elicitation/create":
      if (params?.["mode"] === "url") return Boolean(elicitation?.url);
      // Before modes existed everything was a form; a client that declares only URLs does not show forms.
      return Boolean(elicitation && (!elicitation.url || elicitation.form));
    case "sampling/createMessage":
      return Boolean(params?.["tools"] === undefined ? sampling : sampling?.tools);
    case "roots/list":
      return Boolean(roots);
    default:
      return false;
  }
}

/** The capabilities that are missing for these questions; undefined if all are declared. */
export function undeclared(
  questions: Record<string, Question>,
  declared: ClientCapabilities,
): ClientCapabilities | undefined {
  const missing: ClientCapabilities = {};
  for (const question of Object.values(questions)) {
    if (isDeclared(question, declared)) continue;
    const { elicitation, sampling, roots } = requiredBy(question);
    if (elicitation) missing.elicitation = { ...missing.elicitation, ...elicitation };
    if (sampling) missing.sampling = { ...missing.sampling, ...sampling };
    if (roots) missing.roots = roots;
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}

/** The capabilities for a question; none for a method that MCP does not have. */
function requiredBy({ method, params }: Question): ClientCapabilities {
  switch (method) {
    case "elicitation/create":
      return { elicitation: params?.["mode"] === "url" ? { url: {} } : { form: {} } };
    case "sampling/createMessage":
      return { sampling: params?.["tools"] === undefined ? {} : { tools: {} } };
    case "roots/list":
      return { roots: {} };
    default:
      return {};
  }
}
