// Inspects one image and prints the report: for tests that need a process with an environment of its own.
import { readProxySettings } from "../../lib/oci/http/proxy.ts";
import type { ConnectionSettings } from "../../lib/oci/endpoint.ts";
import { makeRequest, openTestInspector } from "./inspectors.ts";

const TRANSPORTS: Readonly<Record<string, Partial<ConnectionSettings>>> = {
  https: { scheme: "https" },
  insecure: { scheme: "https-then-http", verifiesTls: false },
};

if (import.meta.main) {
  const [image = "", kind = "http"] = Deno.args;
  const proxies = readProxySettings(Deno.env.toObject());
  using inspector = openTestInspector({ connection: TRANSPORTS[kind] ?? {}, proxies });
  const { signal } = new AbortController();
  const report = await inspector.inspector.inspect(makeRequest(image), signal);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(report)));
}
