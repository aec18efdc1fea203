// Inspects one image and prints the report: for tests that need a process with an environment of its own.
import { makeRequest, openTestInspector } from "./inspectors.ts";

if (import.meta.main) {
  const [image = "", scheme = "http"] = Deno.args;
  using inspector = openTestInspector({ transport: scheme === "https" ? { scheme: "https" } : {} });
  const { signal } = new AbortController();
  const report = await inspector.inspector.inspect(makeRequest(image), signal);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(report)));
}
