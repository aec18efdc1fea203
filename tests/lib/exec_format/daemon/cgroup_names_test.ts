import assert from "node:assert/strict";
import { containersOn } from "../../../../lib/exec_format/daemon/cgroup_names.ts";

const ID = "5a0fb8b1556420af30f404ab5f8c4bd22bb6928d85c2fd1657d695d609fb4190";
const OTHER = "c".repeat(64);
const UID = "7f325b8b-fa1b-4799-b9b5-1e963b99ce6e";
const SLICED = UID.replaceAll("-", "_");

/** Where a runtime puts a container; `scheme` is undefined where the name does not show it. */
const DRIVERS: readonly (readonly [name: string, pod: string, container: string, scheme: string | undefined])[] = [
  ["containerd, cgroupfs", `pod${UID}`, ID, undefined],
  ["containerd, systemd", `kubepods-burstable-pod${SLICED}.slice`, `cri-containerd-${ID}.scope`, "containerd"],
  ["CRI-O, cgroupfs", `pod${UID}`, `crio-${ID}`, "cri-o"],
  ["CRI-O, systemd", `kubepods-besteffort-pod${SLICED}.slice`, `crio-${ID}.scope`, "cri-o"],
  ["docker, cgroupfs", `pod${UID}`, ID, undefined],
  ["docker, systemd", `kubepods-pod${SLICED}.slice`, `docker-${ID}.scope`, "docker"],
];

/** What stands before and behind. The names are the same in every hierarchy; v1 and hybrid nodes may have a root of their own. */
const SURROUNDINGS: readonly (readonly [name: string, before: readonly string[], behind: readonly string[]])[] = [
  ["v1", ["kubepods", "burstable"], []],
  ["v1, guaranteed", ["kubepods"], []],
  ["hybrid, with a root of its own", ["archway-n1", "kubepods", "besteffort"], []],
  ["v2", ["kubepods.slice", "kubepods-burstable.slice"], []],
  ["v2, crun", ["kubepods.slice", "kubepods-burstable.slice"], ["container"]],
  ["v2, systemd inside of the container", ["kubepods.slice"], ["system.slice", "cron.service"]],
  ["a node that is a container", ["docker", OTHER, "kubelet.slice", "kubelet-kubepods.slice"], []],
];

for (const [driver, pod, container, runtime] of DRIVERS) {
  Deno.test(`containersOn() reads ${driver}, wherever it is`, () => {
    for (const [name, before, behind] of SURROUNDINGS) {
      const found = containersOn([...before, pod, container, ...behind]);
      const isInnermost = behind.length === 0 || name === "v2, crun" && runtime === "cri-o";
      assert.deepEqual(found, [{ podUid: UID, id: ID, runtime, isInnermost }], name);
    }
  });
}

Deno.test("containersOn() reads the pod slices of a kubelet whose root is below another slice", () => {
  const path = ["kubelet.slice", `kubelet-kubepods-burstable-pod${SLICED}.slice`, `cri-containerd-${ID}.scope`];
  assert.deepEqual(containersOn(path).map(({ podUid }) => podUid), [UID]);
});

Deno.test("containersOn() gives the outer container first, whatever it makes below its own folder", () => {
  const inner = "11111111-2222-3333-4444-555555555555";
  const found = containersOn(["kubepods", `pod${UID}`, ID, "kubepods", `pod${inner}`, OTHER]);
  assert.deepEqual(found.map(({ podUid, id }) => [podUid, id]), [[UID, ID], [inner, OTHER]]);
});

const NONE: readonly (readonly [name: string, path: readonly string[]])[] = [
  ["a process of the host", []],
  ["a service of the host", ["system.slice", "ssh.service"]],
  ["docker without Kubernetes", ["docker", ID]],
  ["a pod's own folder", ["kubepods", `pod${UID}`]],
  ["CRI-O's monitor of a container", ["kubepods.slice", `kubepods-pod${SLICED}.slice`, `crio-conmon-${ID}.scope`]],
  ["an ID that is too short", ["kubepods", `pod${UID}`, ID.slice(1)]],
  ["a folder between pod and container", ["kubepods", `pod${UID}`, "between", ID]],
  ["a UID that is none", ["kubepods", "pod-of-mine", ID]],
  ["names of hostile length", ["kubepods", `pod${"a".repeat(100_000)}`, "f".repeat(100_000)]],
];

Deno.test("containersOn() finds nothing where there is no container of a pod", () => {
  for (const [name, path] of NONE) assert.deepEqual(containersOn(path), [], name);
});
