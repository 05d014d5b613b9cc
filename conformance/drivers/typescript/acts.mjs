// What handlers do: the acts of a command, one after another.

/** Goes through the acts of a handler; what it returns or throws is what the handler does. */
export async function performActs(context, does, { of, interactionId, signal, progress }) {
  const { report, gate, ToolError } = context;
  const cancelled = () => report({ handler: "cancelled", of, interactionId });
  for (const act of does) {
    const [verb, argument] = typeof act === "string" ? [act] : Object.entries(act)[0];
    switch (verb) {
      case "progress":
        progress(argument.message, argument.fraction ?? undefined);
        break;
      case "await":
        if (await Promise.race([gate(argument).promise.then(() => true), aborted(signal)])) break;
        cancelled();
        throw new Error("cancelled");
      case "untilCancelled":
        await aborted(signal);
        cancelled();
        break;
      case "return":
      case "returnData":
      case "answer":
        return argument;
      case "returnBoth":
        return { content: argument.text, structured: argument.structured };
      case "returnNothing":
      case "noAnswer":
        return undefined;
      case "returnBytes":
        return "x".repeat(argument);
      case "returnUnwritable": {
        const circle = {};
        circle.self = circle;
        return circle;
      }
      case "fail":
        throw new ToolError(argument.message, argument.code);
      case "throw":
        throw new Error(argument);
      case "crash":
        return Promise.reject(argument);
      default:
        throw new Error(`There is no act ${verb}.`);
    }
  }
  return undefined;
}

/** Resolves, to false, when the signal fires. */
function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    else signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}
