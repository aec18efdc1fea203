import assert from "node:assert/strict";
import { type InspectOutput, renderInspectedText, toInspected } from "../../../lib/cli/inspect_text.ts";
import { foldLines, renderDocument, terminalLogger } from "../../../lib/cli/output.ts";
import { tooLong } from "./support.ts";
import { NO_REQUESTS } from "../../../lib/oci/request_log.ts";
import { makePlatforms, makeReport } from "../../support/reports.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;
const PLATFORMS = [{ os: "linux", architecture: "amd64" }, { os: "linux", architecture: "arm64", variant: "v8" }];

const PIN = { kind: "ChildDigestPin", message: "The digest pins an image of a single platform." } as const;
const URL_READ = { method: "GET", url: "https://mirror.test/v2/team/app/manifests/v1" };
const GOOD = makeReport(makePlatforms({ platforms: PLATFORMS, findings: [PIN] }), {
  resolved: "mirror.test/team/app:v1",
  readershipId: 1,
  credentialSource: "config.json",
  mirror: "mirror.test",
  requests: { ...NO_REQUESTS, manifestGet: 2, token: 1 },
  trace: [
    { ...URL_READ, status: 401, ms: 12.3, note: "Unauthorized" },
    { method: "GET", url: "https://auth.test/token", status: 200, ms: 4, note: "OK", authorization: "Basic" },
    { ...URL_READ, status: "failed", ms: 5_000, note: "Timeout" },
  ],
});

const REFUSED = { kind: "permanent", reason: "Unauthorized", message: "Cannot read it.", registry: "a.test" } as const;
const FAILED = makeReport({ kind: "failed", failure: REFUSED }, { resolved: "a.test/b:v1" });

function inspected(trace: boolean): readonly InspectOutput[] {
  return [toInspected(`a.test/team/app@${DIGEST}`, GOOD, { trace }), toInspected("a.test/b:v1", FAILED, { trace })];
}

Deno.test("renderInspected() shows a row and the details of each image, aligned, with the trace when requested", () => {
  assert.equal(
    renderInspectedText(inspected(true)),
    `\
IMAGE                                  ARCHITECTURES              SOURCE     REQUESTS   FINDINGS
a.test/team/app@sha256:abababababab…   amd64, arm64               registry   3          ChildDigestPin
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
    GET   401 Unauthorized   12 ms                 https://mirror.test/v2/team/app/manifests/v1
    GET   200 OK             4 ms      Basic ***   https://auth.test/token
    GET   failed Timeout     5000 ms               https://mirror.test/v2/team/app/manifests/v1

a.test/b:v1
  Resolved   a.test/b:v1
  Error      Cannot read it.
  Next       Name a docker config with the right credentials by dockerConfig in the file of --config.
  Requests   none
  Trace: nothing was asked
`,
  );
});

Deno.test("renderInspected() calls no TLS fault transient, because a retry does not help; the document keeps the kind", () => {
  const failure = { kind: "transient", reason: "TlsFailed", message: "Cannot trust it.", registry: "a.test" } as const;
  const images = [toInspected("a.test/b:v1", { ...FAILED, inspection: { kind: "failed", failure } }, { trace: false })];
  const text = renderInspectedText(images);
  assert.match(text, /a\.test\/b:v1 +TlsFailed +registry/);
  assert.match(text, /Error +Cannot trust it\.\n +Next +Asking again does not help/);
  assert.equal(JSON.parse(renderDocument(images, "json"))[0].error.kind, "transient");
});

Deno.test("renderInspected() gives one JSON document for all images, the trace only when requested", () => {
  const [good, failed] = JSON.parse(renderDocument(inspected(false), "json"));
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
  assert.equal(JSON.parse(renderDocument(inspected(true), "json"))[0].trace.length, 3);
});

Deno.test("terminalLogger() prints warnings in one line: what, where, why", () => {
  const said: string[] = [];
  const log = terminalLogger({ out: () => {}, err: (text) => said.push(text), color: false });
  log.with({ path: "/a" }).warn("cannot use it", { line: 3, reason: "it is broken" });
  log.error("cannot go on");
  log.info("never mind");
  assert.deepEqual(said, ["archway: Cannot use it (path /a, line 3): it is broken\n", "archway: Cannot go on\n"]);
});

Deno.test("renderInspectedText() fits a terminal of 80 columns, with the whole digest and trace", () => {
  const text = foldLines(renderInspectedText(inspected(true), 80), 80);
  assert.deepEqual(tooLong(text), []);
  assert.ok(text.includes(`  Digest       sha256:\n               ${"ab".repeat(32)}\n`), text);
  assert.match(text, /GET {3}401 Unauthorized {3}12 ms {17}https:\/\/mirror\.test\/v2\/team\/\n +app\/manifests\/v1\n/);
});
