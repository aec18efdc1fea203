import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import type { FailureOutcome } from "../../../../lib/exec_format/daemon/metrics.ts";
import { EnoexecAnnotation } from "../../../../lib/names.ts";
import { refusing } from "../../../support/memory_kube_api.ts";
import { containerId, DaemonBed, NAMESPACE, NODE, pathTo, pod, UID } from "./daemon_bed.ts";

const ID = containerId("a");

Deno.test("the daemon writes an event and its status for a pod of its node", () =>
  new DaemonBed(pod("web", { containerID: `containerd://${containerId("b")}` })).run(async (bed) => {
    bed.trace.fail(pathTo(UID, ID), { file: "/app" });
    await bed.counted("reported", 1);
    const [event] = bed.events();
    assert.equal(event?.metadata.namespace, NAMESPACE);
    assert.equal(event?.metadata.annotations?.[EnoexecAnnotation.command], "/app");
    assert.equal(event?.metadata.annotations?.[EnoexecAnnotation.entryPoint], "true");
    assert.equal(event?.metadata.ownerReferences?.[0]?.uid, "owner");
    const status = { nodeName: NODE, podName: "web", podNamespace: "team", containerID: `containerd://${ID}` };
    assert.deepEqual(bed.bodies("patch"), [{ kind: "merge", document: { status } }]);
  }));

Deno.test("the daemon lists and watches the pods of its own node alone", async () => {
  const bed = new DaemonBed();
  await bed.run(() => Promise.resolve());
  assert.deepEqual([...new Set(bed.cluster.lists)], [`pods ?spec.nodeName=${NODE}`]);
});

const HASH = "0123456789abcdef0123456789abcdef";

function hashed(name: string, hash: string, uid = UID): KubeObject {
  return pod(name, { uid, annotations: { "kubernetes.io/config.hash": hash } });
}

type Reported = readonly [what: string, bed: DaemonBed, uid: string, happen: (bed: DaemonBed) => Promise<void> | void];

const late = (afterMs: number) => async (bed: DaemonBed): Promise<void> => {
  await bed.clock.advance(afterMs);
  bed.cluster.put(Resource.pods, pod("late"));
};

const REPORTED: readonly Reported[] = [
  ["reports a failure whose pod its watch shows only afterwards", new DaemonBed(), UID, late(2_000)],
  ["reports a failure whose pod its watch shows only after it was dead a while", new DaemonBed(), UID, late(95_000)],
  ["finds a static pod by the hash of its configuration", new DaemonBed(hashed("static", HASH)), HASH, () => {}],
];

for (const [what, bed, uid, happen] of REPORTED) {
  Deno.test(`the daemon ${what}`, () =>
    bed.run(async () => {
      bed.trace.fail(pathTo(uid, ID));
      await happen(bed);
      await bed.counted("reported", 1);
    }));
}

const UNKNOWN = pathTo("11111111-2222-3333-4444-555555555555", containerId("b"));
const FOLDERS = Array.from({ length: 10 }, (_, at) => `made-${at}`);

type Silent = readonly [what: string, pods: readonly KubeObject[], FailureOutcome, fail: (bed: DaemonBed) => void];

const SILENT: readonly Silent[] = [
  ["a pod of another node that shares the kernel", [pod("theirs", { node: "n2" })], "unknown-pod", ({ trace }) => {
    trace.fail(pathTo(UID, ID));
  }],
  ["a path that was cut off, whatever container it names", [pod("victim")], "cut-off", ({ trace }) => {
    trace.fail([...FOLDERS, ...pathTo(UID, ID).slice(-2)], { first: "2" });
  }],
  ["what fails in a pod that it does not know, whatever container it names", [pod("victim")], "unknown-pod", (bed) => {
    bed.trace.fail([...UNKNOWN, ...pathTo(UID, ID).slice(-2)], { parent: UNKNOWN });
  }],
  ["what fails outside of pods", [], "outside-pods", ({ trace }) => trace.fail(["system.slice", "ssh.service"])],
];

for (const [what, pods, outcome, fail] of SILENT) {
  Deno.test(`the daemon counts ${what}, as ${outcome}, and reports nothing of it`, async () => {
    const bed = new DaemonBed(...pods);
    await bed.run(async () => {
      fail(bed);
      if (outcome !== "unknown-pod") await bed.counted(outcome, 1);
      await bed.clock.advance(121_000);
      await bed.counted(outcome, 1);
      assert.deepEqual(bed.events(), []);
    });
  });
}

Deno.test("the daemon reports a failure of a pod that was deleted just now", () =>
  new DaemonBed(pod("brief")).run(async (bed) => {
    bed.cluster.drop(Resource.pods, "team/brief");
    bed.cluster.put(Resource.pods, pod("next", { uid: "11111111-2222-3333-4444-555555555555" }));
    bed.trace.fail(pathTo(UID, ID));
    await bed.counted("reported", 1);
  }));

Deno.test("the daemon lets no pod take over what fails in another one", async () => {
  const thieves = [hashed("thief-of-uid", UID, "a2"), hashed("thief-of-hash", HASH, "a3")];
  const bed = new DaemonBed(pod("web"), hashed("static", HASH, "a1"), ...thieves);
  await bed.run(async () => {
    bed.trace.fail(pathTo(UID, ID));
    bed.trace.fail(pathTo(HASH, containerId("c")), { at: 2 });
    await bed.counted("reported", 2);
    const named = bed.bodies("patch").map((body) => JSON.stringify(body));
    assert.ok(named.some((body) => body.includes('"web"')) && named.some((body) => body.includes('"static"')));
    assert.ok(named.every((body) => !body.includes("thief")));
  });
});

Deno.test("the daemon takes the scheme of container IDs from the pods where the cgroup does not say it", () =>
  new DaemonBed(pod("web", { containerID: `docker://${containerId("b")}` })).run(async (bed) => {
    bed.trace.fail(pathTo(UID, ID));
    await bed.counted("reported", 1);
    assert.match(JSON.stringify(bed.bodies("patch")), new RegExp(`docker://${ID}`));
  }));

Deno.test("the daemon reports a container once a minute and counts the rest", () =>
  new DaemonBed(pod("web")).run(async (bed) => {
    for (let at = 1; at <= 5; at++) bed.trace.fail(pathTo(UID, ID), { at });
    bed.trace.say("printf", "h 3 2");
    await bed.counted("text", 2);
    assert.deepEqual([await bed.count("reported"), await bed.count("repeated")], [1, 4 + 3]);
  }));

Deno.test("the daemon takes for an entry point what fails in the container's own folder alone, and of no parent in it", () =>
  new DaemonBed(pod("web")).run(async (bed) => {
    bed.trace.fail([...pathTo(UID, ID), ...pathTo(UID, containerId("b")).slice(-2)]);
    bed.trace.fail([...pathTo(UID, containerId("c")), "container"], { at: 2 });
    bed.trace.fail(pathTo(UID, containerId("d")), { at: 3 });
    const own = pathTo(UID, containerId("e"));
    bed.trace.fail(own, { at: 4, parent: [...own, "made"] });
    await bed.counted("reported", 4);
    const marks = bed.events().map(({ metadata }) => metadata.annotations?.[EnoexecAnnotation.entryPoint]);
    assert.deepEqual(marks, [undefined, undefined, "true", undefined]);
  }));

Deno.test("the daemon writes an event once the API server takes it", async () => {
  const bed = new DaemonBed(pod("web"));
  let refusals = 3;
  bed.fault = refusing(503, ({ plural, verb }) => plural === "enoexecevents" && verb === "create" && refusals-- > 0);
  await bed.run(async () => {
    bed.trace.fail(pathTo(UID, ID));
    for (let second = 0; second < 8; second++) await bed.clock.advance(1_000);
    await bed.counted("reported", 1);
  });
});

Deno.test("the daemon writes the status again where only that failed", async () => {
  const bed = new DaemonBed(pod("web"));
  let refusals = 1;
  bed.fault = refusing(500, ({ verb }) => verb === "patch" && refusals-- > 0);
  await bed.run(async () => {
    bed.trace.fail(pathTo(UID, ID));
    await bed.clock.advance(1_000);
    await bed.counted("reported", 1);
    assert.equal(bed.bodies("patch").length, 2);
  });
});

Deno.test("the daemon takes an event back whose status is refused for good", async () => {
  const bed = new DaemonBed(pod("web"));
  bed.fault = ({ verb }) => {
    if (verb === "patch") throw new ApiError("no such name", { status: 422, hasCauses: true });
  };
  await bed.run(async () => {
    bed.trace.fail(pathTo(UID, ID));
    await bed.counted("refused", 1);
    assert.deepEqual(bed.events(), []);
  });
});

Deno.test("the daemon leaves an event alone that is still to be looked at, and counts a repetition", () =>
  new DaemonBed(pod("web")).run(async (bed) => {
    bed.trace.fail(pathTo(UID, ID));
    await bed.counted("reported", 1);
    await bed.clock.advance(61_000);
    bed.trace.fail(pathTo(UID, ID));
    await bed.counted("repeated", 1);
    assert.equal(bed.events().length, 1);
  }));
