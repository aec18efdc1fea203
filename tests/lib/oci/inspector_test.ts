import assert from "node:assert/strict";
import type { Credential, Keyring } from "../../../lib/oci/credential.ts";
import type { PlannedRequest } from "../../../lib/oci/inspection_request.ts";
import type { FailureReason } from "../../../lib/oci/errors.ts";
import { Inspector } from "../../../lib/oci/inspector.ts";
import { NO_REQUESTS } from "../../../lib/oci/request_log.ts";
import { fingerprintOfAll } from "../../../lib/oci/fingerprint.ts";
import type { PullPlanner } from "../../../lib/oci/config/planner.ts";
import { matchCredentials } from "../../../lib/oci/credentials/match.ts";
import { makeCredential, makeEndpoint, makeRequest, planAt } from "../../support/inspectors.ts";
import { makeReport } from "../../support/reports.ts";

const signal = new AbortController().signal;
const ENDPOINTS = [
  makeEndpoint("mirror.example", { repository: "cache/app", identifier: "v1", isMirror: true }),
  makeEndpoint("quay.io", { repository: "org/app", identifier: "v1" }),
];

const ask = async (
  images: readonly string[],
  { pods, keyring, reason = "ManifestUnknown" }: {
    readonly pods: readonly Credential[];
    readonly keyring: readonly Credential[];
    readonly reason?: FailureReason;
  },
) => {
  const seen: PlannedRequest[] = [];
  const cache = {
    inspect: (request: PlannedRequest) => {
      seen.push(request);
      const failure = { kind: "permanent", reason, message: "Cannot read it." } as const;
      return Promise.resolve(makeReport({ kind: "failed", failure }));
    },
  };
  const lookup: Keyring["credentialsFor"] = (endpoint) => Promise.resolve(matchCredentials(keyring, endpoint));
  const planner = { plan: planAt(...ENDPOINTS) };
  const inspector = new Inspector({ cache, planner, keyring: { credentialsFor: lookup } });
  const asked = images.map((image) => inspector.inspect(makeRequest(image, { credentials: pods }), signal));
  return { requests: seen, reports: await Promise.all(asked) };
};

async function credentialsFor(pods: readonly Credential[], keyring: readonly Credential[]): Promise<readonly string[]> {
  const { requests } = await ask(["quay.io/org/app:v1"], { pods, keyring });
  return sourcesOf(requests[0]?.credentials ?? []);
}

function sourcesOf(credentials: readonly Credential[]): readonly string[] {
  return credentials.map(({ source }) => source);
}

function named(source: string, scope: string): Credential {
  return makeCredential(scope, { source, password: source });
}

Deno.test("Inspector.inspect() drops what matches no endpoint of the image", async () => {
  const pods = [named("other", "docker.io"), named("near", "quay.io/elsewhere"), named("mine", "quay.io/org")];
  assert.deepEqual(await credentialsFor(pods, [named("global", "ghcr.io")]), ["mine"]);
});

Deno.test("Inspector.inspect() puts the pod's before the keyring's, endpoint by endpoint", async () => {
  const pods = [named("pod", "quay.io")];
  const keyring = [named("global", "quay.io/org"), named("for the mirror", "mirror.example")];
  const { requests: [request] } = await ask(["quay.io/org/app:v1"], { pods, keyring });
  assert.deepEqual(sourcesOf(request?.credentials ?? []), ["for the mirror", "pod", "global"]);
  const own = request?.endpoints.map(({ credentials }) => sourcesOf(credentials));
  assert.deepEqual(own, [["for the mirror"], ["pod", "global"]]);
});

Deno.test("Inspector.inspect() keeps equal credentials once", async () => {
  const same = named("pod", "quay.io");
  assert.deepEqual(await credentialsFor([same], [{ ...same, source: "global" }]), ["global"]);
});

Deno.test("Inspector.inspect() tries eight credentials of the pod and eight of the keyring, the best matches first", async () => {
  const spellings = Array.from({ length: 100 }, (_, at) => named(`pod ${at}`, `u${at}@quay.io`));
  const shared = Array.from({ length: 100 }, (_, at) => named(`shared ${at}`, `u${at}@quay.io`));
  const exact = named("exact", "quay.io/org/app");
  const tried = await credentialsFor([...spellings, exact], [named("shared exact", "quay.io/org"), ...shared]);
  assert.deepEqual([tried.length, tried[0], tried[8]], [16, "exact", "shared exact"]);
  assert.ok(tried.slice(1, 8).every((source) => source.startsWith("pod ")), tried.join());
});

Deno.test("Inspector.inspect() says of a refused login how many credentials were left out", async () => {
  const pods = Array.from({ length: 20 }, (_, at) => named("pod", `u${at}@quay.io`));
  const messages = { 20: "Cannot read it. 12 more credentials match; at most 8 are tried.", 8: "Cannot read it." };
  for (const [count, message] of Object.entries(messages)) {
    const asked = { pods: pods.slice(0, Number(count)), keyring: [], reason: "Unauthorized" } as const;
    const { reports: [report] } = await ask(["quay.io/org/app:v1"], asked);
    assert.equal(report?.inspection.kind === "failed" ? report.inspection.failure.message : "", message);
  }
});

Deno.test("Inspector.inspect() parses and hashes each credential once, however many images a pod has", async () => {
  const reads = { scope: 0, secret: 0 };
  const pods = Array.from({ length: 256 }, (_, at): Credential => {
    const { scope, source, secret } = named("pod", `u${at}@quay.io`);
    return {
      source,
      get scope() {
        reads.scope += 1;
        return scope;
      },
      get secret() {
        reads.secret += 1;
        return secret;
      },
    };
  });
  const images = Array.from({ length: 200 }, (_, at) => `quay.io/org/app${at}:v1`);
  const { requests } = await ask(images, { pods, keyring: [] });
  assert.equal(requests.length, 200);
  // As the cache does.
  for (const { credentials } of requests) for (let at = 0; at < 3; at++) fingerprintOfAll(credentials);
  assert.deepEqual(reads, { scope: 2 * 256, secret: 256 });
});

Deno.test("Inspector.inspect() sends no request for an image that policy refuses", async () => {
  const failure = { kind: "permanent", reason: "Blocked", message: "no" } as const;
  const cache = { inspect: () => assert.fail("asked") };
  const keyring = { credentialsFor: () => assert.fail("looked up") };
  const planner: Pick<PullPlanner, "plan"> = { plan: () => ({ kind: "refused", failure }) };
  const inspector = new Inspector({ cache, planner, keyring });
  const report = await inspector.inspect(makeRequest("quay.io/a"), signal);
  assert.deepEqual([report.inspection, report.requests], [{ kind: "failed", failure }, NO_REQUESTS]);
});
