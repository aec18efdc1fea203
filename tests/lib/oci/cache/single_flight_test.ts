import assert from "node:assert/strict";
import { LOOK_UP_AGAIN, makeRequest, type RequestParts } from "../../../support/inspectors.ts";
import type { InspectionReport, Inspector, PlannedRequest } from "../../../../lib/oci/inspector.ts";
import { type InspectionPriority, mostUrgent } from "../../../../lib/oci/callers.ts";
import { NO_REQUESTS } from "../../../../lib/oci/request_log.ts";
import { singleFlight } from "../../../../lib/oci/cache/single_flight.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { turn } from "../../../support/until.ts";

const REPORT: InspectionReport = {
  inspection: {
    kind: "platforms",
    digest: `sha256:${"ab".repeat(32)}`,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: [{ os: "linux", architecture: "amd64" }],
    depth: "index",
    findings: [],
  },
  resolved: "registry.example/app:v1",
  verifiedAtMs: 0,
  source: "registry",
  access: "public",
  requests: NO_REQUESTS,
  trace: [],
};

interface Call {
  readonly request: PlannedRequest;
  readonly signal: AbortSignal;
  readonly finish: (report: InspectionReport) => void;
  readonly fail: (reason: Error) => void;
}

function slow(): { readonly inspector: Inspector<PlannedRequest>; readonly calls: Call[] } {
  const calls: Call[] = [];
  const inspector: Inspector<PlannedRequest> = {
    inspect: (request, signal) =>
      new Promise((finish, fail) => {
        calls.push({ request, signal, finish, fail });
        signal.addEventListener("abort", () => fail(signal.reason), { once: true });
      }),
  };
  return { inspector, calls };
}

function requestOf(more: RequestParts = {}): PlannedRequest {
  return makeRequest("registry.example/app:v1", { priority: "admission", ...more });
}

const clock = new FakeClock();
const signal = new AbortController().signal;

Deno.test("singleFlight() makes one inspection of 1 000 at the same time", async () => {
  const { inspector, calls } = slow();
  const shared = singleFlight(inspector, { clock });
  const reports = Promise.all(Array.from({ length: 1_000 }, () => shared.inspect(requestOf(), signal)));
  await turn();
  assert.equal(calls.length, 1);
  calls[0]?.finish(REPORT);
  assert.deepEqual(new Set(await reports), new Set([REPORT]));
  const next = shared.inspect(requestOf(), signal);
  await turn();
  assert.equal(calls.length, 2, "a later one is asked anew");
  calls[1]?.finish(REPORT);
  await next;
});

Deno.test("singleFlight() keeps apart what differs in image, credentials or depth, and never shares what must be looked up again", async () => {
  const { inspector, calls } = slow();
  const shared = singleFlight(inspector, { clock });
  const secret = (password: string): PlannedRequest["credentials"] => [
    { scope: "registry.example", source: "secret a/b", secret: { kind: "basic", username: "u", password } },
  ];
  const different = [
    {},
    { image: "registry.example/app:v2" },
    { credentials: secret("one") },
    { credentials: secret("two") },
    { freshness: LOOK_UP_AGAIN },
    { freshness: LOOK_UP_AGAIN },
    { depth: "config" },
  ] as const;
  const reports = Promise.all(different.map((more) => shared.inspect(requestOf(more), signal)));
  await turn();
  assert.equal(calls.length, different.length);
  for (const call of calls) call.finish(REPORT);
  await reports;
});

Deno.test("singleFlight() runs with the strongest priority of those who wait", async () => {
  const { inspector, calls } = slow();
  const shared = singleFlight(inspector, { clock });
  const reports = [shared.inspect(requestOf({ priority: "prewarm" }), signal)];
  await turn();
  const urgency = (): InspectionPriority | undefined => calls.map(({ request }) => mostUrgent(request.callers))[0];
  assert.equal(urgency(), "prewarm");
  reports.push(shared.inspect(requestOf({ priority: "gated" }), signal));
  reports.push(shared.inspect(requestOf({ priority: "admission" }), signal));
  await turn();
  assert.equal(urgency(), "gated");
  calls[0]?.finish(REPORT);
  await Promise.all(reports);
});

Deno.test("singleFlight() gives a shared inspection all of its callers, each once, also those who join later", async () => {
  const { inspector, calls } = slow();
  const shared = singleFlight(inspector, { clock });
  const reports = [shared.inspect(requestOf({ namespace: "one" }), signal)];
  await turn();
  const callers = calls[0]?.request.callers;
  const joined: unknown[] = [];
  callers?.onJoin((caller) => joined.push(caller));
  for (const namespace of ["one", "two", "two"]) reports.push(shared.inspect(requestOf({ namespace }), signal));
  assert.deepEqual(joined, [{ namespace: "two", priority: "admission" }]);
  assert.deepEqual(callers?.members.map(({ namespace }) => namespace), ["one", "two"]);
  calls[0]?.finish(REPORT);
  await Promise.all(reports);
});
