import assert from "node:assert/strict";
import { findContainer, podContainers } from "../../../lib/enoexec/container.ts";
import { ended, idOf, makeFailedPod } from "./make.ts";

const LOOKUPS: readonly (readonly [title: string, id: string, found: string | undefined])[] = [
  ["170 MD-34 names the container of a CRI-O ID", idOf("a", "cri-o"), "c"],
  ["171 MD-35 names the container of a containerd ID", idOf("b"), "d"],
  ["names the container of a docker ID", idOf("c", "docker"), "e"],
  ["172 MD-36 finds nothing for an unknown ID", idOf("9"), undefined],
  ["173 MD-37 finds nothing for a malformed ID", "invalid-container-id", undefined],
  ["174 MD-38 finds nothing for an empty ID", "", undefined],
];
for (const [title, id, found] of LOOKUPS) {
  const [row = "", ...rest] = title.split(" ");
  const named = /^\d+$/.test(row)
    ? `${row} ${rest[0]} findContainer() ${rest.slice(1).join(" ")}`
    : `findContainer() ${title}`;
  Deno.test(named, () => {
    const pod = makeFailedPod({ spec: { containers: ["c", "d", "e"].map((name) => ({ name, image: "i" })) } });
    const ids = { c: idOf("a", "cri-o"), d: idOf("b"), e: idOf("c", "docker") };
    const containerStatuses = Object.entries(ids).map(([name, containerID]) => ({ name, containerID }));
    const result = findContainer(podContainers({ ...pod, status: { containerStatuses } }), id);
    assert.equal(result.kind === "parsed" ? result.value.name : undefined, found);
  });
}

Deno.test("229 podContainers() finds init and ephemeral containers, and the ID that a restarted one had before", () => {
  const pod = {
    ...makeFailedPod(),
    spec: {
      initContainers: [{ name: "i", image: "x" }],
      containers: [{ name: "c", image: "y" }],
      ephemeralContainers: [{ name: "e", image: "z" }],
    },
    status: {
      initContainerStatuses: [{ name: "i", containerID: idOf("1") }],
      containerStatuses: [{ name: "c", containerID: idOf("2"), lastState: ended(1, { id: idOf("3") }) }],
      ephemeralContainerStatuses: [{ name: "e", containerID: idOf("4") }],
    },
  };
  const names = ["1", "2", "3", "4"].map((digit) => {
    const found = findContainer(podContainers(pod), idOf(digit));
    return found.kind === "parsed" ? found.value.name : "none";
  });
  assert.deepEqual(names, ["i", "c", "c", "e"]);
});

const OWN: readonly (readonly [says: string, container: Readonly<Record<string, unknown>>, isOwn: boolean])[] = [
  ["nothing but the image", {}, true],
  ["a token", { volumeMounts: [{ name: "t", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }] }, true],
  ["a command", { command: ["/broken"] }, false],
  ["arguments", { args: ["x"] }, false],
  ["a variable", { env: [{ name: "A", value: "b" }] }, false],
  ["variables from elsewhere", { envFrom: [{ secretRef: { name: "s" } }] }, false],
  ["a volume", { volumeMounts: [{ name: "v", mountPath: "/app" }] }, false],
  ["a working directory", { workingDir: "/tmp" }, false],
];
for (const [says, container, isOwn] of OWN) {
  Deno.test(`podContainers() takes a container with ${says} for ${isOwn ? "the image's own" : "changed by the pod"}`, () => {
    assert.equal(podContainers(makeFailedPod({ container }))[0]?.isImagesOwn, isOwn);
  });
}

Deno.test("podContainers() reads malformed statuses as absent", () => {
  const pod = {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c" }, 7] },
    status: { containerStatuses: "no" },
  };
  assert.deepEqual(podContainers(pod).map(({ name, ids, end }) => [name, ids, end]), [["c", [], undefined]]);
});
