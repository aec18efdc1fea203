import assert from "node:assert/strict";
import { renderInspected, runInspect } from "../../../lib/cli/inspect.ts";
import { type InspectedImage, toInspected } from "../../../lib/cli/inspected_image.ts";
import { readHostStates, renderHostStates } from "../../../lib/cli/inspect_registries.ts";
import { readFailedImages, withFailures } from "../../../lib/cli/failed_images.ts";
import { terminalLogger } from "../../../lib/cli/output.ts";
import { systemClock } from "../../../lib/clock.ts";
import { parseConfig } from "../../../lib/config/parse.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import type { HostState } from "../../../lib/oci/limits/host_state.ts";
import type { InspectionReport } from "../../../lib/oci/inspector.ts";
import { NO_REQUESTS } from "../../../lib/oci/request_log.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { recordingTerminal } from "./support.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const PLATFORMS = [{ os: "linux", architecture: "amd64" }, { os: "linux", architecture: "arm64", variant: "v8" }];

const GOOD: InspectionReport = {
  inspection: {
    kind: "platforms",
    digest: DIGEST,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: PLATFORMS,
    depth: "index",
    findings: [{ kind: "ChildDigestPin", message: "The digest pins an image of a single platform." }],
  },
  resolved: "mirror.test/team/app:v1",
  verifiedAtMs: 0,
  source: "registry",
  access: "private",
  credentialSource: "config.json",
  mirror: "mirror.test",
  requests: { ...NO_REQUESTS, manifestGet: 2, token: 1 },
  trace: [
    { method: "GET", url: "https://mirror.test/v2/team/app/manifests/v1", status: 401, ms: 12.3, note: "Unauthorized" },
    { method: "GET", url: "https://auth.test/token", status: 200, ms: 4, note: "OK", authorization: "Basic" },
    {
      method: "GET",
      url: "https://mirror.test/v2/team/app/manifests/v1",
      status: "failed",
      ms: 5_000,
      note: "Timeout",
    },
  ],
};

const FAILED: InspectionReport = {
  ...GOOD,
  inspection: {
    kind: "failed",
    failure: { kind: "permanent", reason: "Unauthorized", message: "Cannot read it.", registry: "a.test" },
  },
  resolved: "a.test/b:v1",
  requests: NO_REQUESTS,
  trace: [],
};

/** What the command makes of reports. */
function inspected(trace: boolean): readonly InspectedImage[] {
  const { mirror: _mirror, credentialSource: _source, ...failed } = FAILED;
  return [
    toInspected(`a.test/team/app@${DIGEST}`, GOOD, { trace }),
    toInspected("a.test/b:v1", failed, { trace }),
  ];
}

Deno.test("renderInspected() shows a row and the details of each image, aligned, with the trace when requested", () => {
  assert.equal(
    renderInspected(inspected(true), "table"),
    `\
IMAGE                                  ARCHITECTURES              SOURCE     REQUESTS   FINDINGS
a.test/team/app@sha256:abababababab…   amd64,arm64                registry   3          ChildDigestPin
a.test/b:v1                            Unauthorized (permanent)   registry   0

a.test/team/app@${DIGEST}
  Resolved     mirror.test/team/app:v1
  Mirror       mirror.test
  Credential   config.json
  Digest       ${DIGEST}
  Media type   application/vnd.oci.image.index.v1+json
  Platforms    linux/amd64, linux/arm64/v8
  Finding      ChildDigestPin: The digest pins an image of a single platform.
  Requests     2 manifest GET, 1 token
  Trace
    GET   https://mirror.test/v2/team/app/manifests/v1   401 Unauthorized   12 ms
    GET   https://auth.test/token                        200 OK             4 ms      Basic ***
    GET   https://mirror.test/v2/team/app/manifests/v1   failed Timeout     5000 ms

a.test/b:v1
  Resolved   a.test/b:v1
  Error      Cannot read it.
  Next       Name a docker config with the right credentials by --docker-config.
  Requests   none
  Trace: nothing was asked
`,
  );
});

Deno.test("renderInspected() calls no TLS fault transient, because a retry does not help; the document keeps the kind", () => {
  const failure = { kind: "transient", reason: "TlsFailed", message: "Cannot trust it.", registry: "a.test" } as const;
  const images = [toInspected("a.test/b:v1", { ...FAILED, inspection: { kind: "failed", failure } }, { trace: false })];
  const text = renderInspected(images, "table");
  assert.match(text, /a\.test\/b:v1 +TlsFailed +registry/);
  assert.match(text, /Error +Cannot trust it\.\n +Next +Asking again does not help/);
  assert.equal(JSON.parse(renderInspected(images, "json"))[0].error.kind, "transient");
});

Deno.test("renderInspected() gives one JSON document for all images, the trace only when requested", () => {
  const [good, failed] = JSON.parse(renderInspected(inspected(false), "json"));
  assert.deepEqual(good, {
    image: `a.test/team/app@${DIGEST}`,
    resolved: "mirror.test/team/app:v1",
    mirror: "mirror.test",
    credential: "config.json",
    digest: DIGEST,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: PLATFORMS,
    architectures: ["amd64", "arm64"],
    source: "registry",
    requests: { ...NO_REQUESTS, manifestGet: 2, token: 1 },
    findings: [{ kind: "ChildDigestPin", message: "The digest pins an image of a single platform." }],
  });
  assert.deepEqual(failed.error, { kind: "permanent", reason: "Unauthorized", message: "Cannot read it." });
  assert.equal(JSON.parse(renderInspected(inspected(true), "json"))[0].trace.length, 3);
});

const STATES: readonly HostState[] = [
  { host: "quay.test", circuit: "closed", inFlight: 2, limit: 16, waiting: 0, lastSuccessAtMs: 4_000, remaining: 97 },
  {
    host: "dead.test:5000",
    circuit: "open",
    inFlight: 0,
    limit: 8,
    waiting: 3,
    pausedForMs: 1_500,
    lastFailure: { reason: "Timeout", atMs: 9_900 },
  },
];

Deno.test("renderHostStates() shows a row a registry, aligned", () => {
  assert.equal(
    renderHostStates(STATES, { output: "table", nowMs: 10_000 }),
    `\
REGISTRY         CIRCUIT   LAST ANSWER   LAST FAILURE        QUOTA LEFT   PAUSED FOR   REQUESTS   WAITING
quay.test        closed    6s ago        none                97           -            2 of 16    0
dead.test:5000   open      never         Timeout 100ms ago   unknown      2s           0 of 8     3
`,
  );
  assert.deepEqual(JSON.parse(renderHostStates(STATES, { output: "json", nowMs: 10_000 })), STATES);
  assert.equal(renderHostStates([], { output: "table", nowMs: 0 }), "No registry was asked yet.\n");
});

/** Serves one answer on loopback for the length of a call. */
async function withServer<T>(answer: Response, work: (url: string) => Promise<T>): Promise<T> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => answer.clone());
  try {
    return await work(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
    await answer.body?.cancel();
  }
}

const { signal } = new AbortController();

Deno.test("readHostStates() reads the answer of a running Archway", async () => {
  const states = await withServer(Response.json(STATES), (url) => readHostStates(url, signal));
  assert.deepEqual(states, STATES);
});

Deno.test("runInspect() --registries prints what a running Archway reports at its --admin-url", async () => {
  const { terminal, said } = recordingTerminal({ color: false });
  const code = await withServer(Response.json(STATES), (url) => {
    const words = ["inspect", "--registries", `--admin-url=${url}`, "--output=json"];
    const parsed = parseConfig(words, { env: {}, readFile: () => "" });
    assert.ok(parsed.kind === "run");
    return runInspect(parsed.config, { terminal, clock: systemClock, userAgent: "test", signal });
  });
  assert.deepEqual([code, JSON.parse(said.out)], [0, STATES]);
});

Deno.test("readHostStates() reports what is wrong with the address, and repeats no query", async () => {
  const cases = [
    [
      new Response("not found", { status: 404 }),
      /^Cannot read the registries from "http:.*\/registries": it answered 404\. Give/,
    ],
    [new Response("<html>"), /it is not an Archway of this version/],
    [Response.json([{ host: 1 }]), /it is not an Archway of this version/],
  ] as const;
  for (const [answer, message] of cases) {
    await assert.rejects(withServer(answer, (url) => readHostStates(`${url}/?token=hidden`, signal)), (error) => {
      assert.ok(error instanceof Error);
      assert.match(error.message, message);
      return !error.message.includes("hidden");
    });
  }
});

Deno.test("terminalLogger() prints warnings in one line: what, where, why", () => {
  const said: string[] = [];
  const log = terminalLogger({ out: () => {}, err: (text) => said.push(text), color: false });
  log.with({ path: "/a" }).warn("cannot use it", { line: 3, reason: "it is broken" });
  log.error("cannot go on");
  log.info("never mind");
  assert.deepEqual(said, ["archway: Cannot use it (path /a, line 3): it is broken\n", "archway: Cannot go on\n"]);
});

Deno.test("withFailures() adds what a cluster has recorded of the digest, while it is fresh", () => {
  const [image] = inspected(false);
  const nowMs = Date.parse("2026-11-21T12:00:00Z");
  const record = {
    digest: DIGEST,
    architecture: "arm64",
    namespace: undefined,
    reportedBy: "shop",
    image: "any",
    atMs: nowMs,
  };
  const messages = (failed: Parameters<typeof withFailures>[1]["failed"]): readonly string[] =>
    withFailures(image ?? assert.fail("no image"), { failed, nowMs }).findings
      .filter(({ kind }) => kind === "FailedArchitecture").map(({ message }) => message);
  assert.deepEqual(messages([record, { ...record, namespace: "shop" }]), [
    "its program has failed on arm64, which it claims",
    "its program has failed on arm64, which it claims (namespace shop)",
  ]);
  assert.deepEqual(messages([{ ...record, digest: "sha256:other" }, { ...record, atMs: 0 }]), []);
});

for (
  const [status, code, said] of [
    [403, 1, "archway: Cannot list enoexecevents: it is not known which of the images have failed.\n"],
    [404, 0, ""],
  ] as const
) {
  Deno.test(`runInspect() --failures exits ${code} where the records of failures are answered by ${status}`, async () => {
    const parsed = parseConfig(["inspect", "--failures", "a.test/b"], { env: {}, readFile: () => "" });
    assert.ok(parsed.kind === "run");
    const { signal } = new AbortController();
    const api = new MemoryCluster().client(({ plural }) => {
      if (plural === "enoexecevents") throw new ApiError("refused", { status });
    });
    const { terminal, said: output } = recordingTerminal({ color: false });
    const deps = { terminal, clock: systemClock, userAgent: "test", signal };
    const failed = await readFailedImages(api, signal);
    // Without images no registry is requested.
    assert.equal(await runInspect({ ...parsed.config, words: [] }, { ...deps, failed }), code);
    assert.equal(output.err, said);
  });
}
