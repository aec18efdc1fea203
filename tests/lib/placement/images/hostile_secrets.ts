// Run as a process of its own: reads as many distinct pull secrets as the argument says, each as large as is read, for pods
// of one each, and prints what the heap holds after it.
import { PullSecrets } from "../../../../lib/placement/images/pull_secrets.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

/** The password of one entry: with the entry's JSON and both layers of base64 just below 128 KiB. */
const PASSWORD_BYTES = 70_000;

const { signal } = new AbortController();
const callers = callersOf({ namespace: "evil", priority: "gated" });
const auths = { "example.com": { auth: btoa(`user:${"x".repeat(PASSWORD_BYTES)}`) } };
const data = { ".dockerconfigjson": btoa(JSON.stringify({ auths })) };
const secrets = new PullSecrets({
  api: {
    get: (_, { name = "" }) => Promise.resolve({ metadata: { name }, type: "kubernetes.io/dockerconfigjson", data }),
  },
  mode: "pod",
  ownNamespace: "archway-system",
  limits: new WorkLimits(),
  clock: new FakeClock(),
  log: silentLogger,
});
let read = 0;
for (let at = 0; at < Number(Deno.args[0]); at++) {
  const scope = { namespace: "evil", serviceAccount: "", pullSecrets: [`s${at}`] };
  read += (await secrets.read(scope, { callers, signal })).credentials.length;
}
Reflect.get(globalThis, "gc")?.();
const heapMb = Math.round(Deno.memoryUsage().heapUsed / 1e6);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify({ heapMb, read })));
