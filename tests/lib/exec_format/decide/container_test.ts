import assert from "node:assert/strict";
import { findContainer, podContainers } from "../../../../lib/exec_format/decide/container.ts";
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
  Deno.test(title.replace(/^(\d+ MD-\d+ )?/, "$&findContainer() "), () => {
    const pod = makeFailedPod({ spec: { containers: ["c", "d", "e"].map((name) => ({ name, image: "i" })) } });
    const ids = { c: idOf("a", "cri-o"), d: idOf("b"), e: idOf("c", "docker") };
    const containerStatuses = Object.entries(ids).map(([name, containerID]) => ({ name, containerID }));
    assert.equal(findContainer(podContainers({ ...pod, status: { containerStatuses } }), id)?.name, found);
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
  const names = ["1", "2", "3", "4"].map((digit) => findContainer(podContainers(pod), idOf(digit))?.name);
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
  ["a hook that runs a program", { lifecycle: { postStart: { exec: { command: ["/x"] } } } }, false],
  ["a hook that asks over the network", { lifecycle: { postStart: { httpGet: { port: 80 } } } }, true],
  ["a probe that runs a program", { startupProbe: { exec: { command: ["/x"] } } }, false],
  ["another probe that does", { livenessProbe: { exec: { command: ["/x"] } } }, false],
  ["a probe that asks over the network", { readinessProbe: { tcpSocket: { port: 80 } } }, true],
  ["an input that people type into", { stdin: true }, false],
  ["a profile of system calls from the node", { securityContext: { seccompProfile: { type: "Localhost" } } }, false],
  ["the runtime's profile", { securityContext: { seccompProfile: { type: "RuntimeDefault" } } }, true],
  ["a file for last words over one of the image", { terminationMessagePath: "/app/run" }, false],
  ["the usual file for last words", { terminationMessagePath: "/dev/termination-log" }, true],
  ["a device", { volumeDevices: [{ name: "v", devicePath: "/app/run" }] }, false],
  ["the processes of another container", { targetContainerName: "d" }, false],
];
for (const [says, container, isOwn] of OWN) {
  Deno.test(`podContainers() takes a container with ${says} for ${isOwn ? "the image's own" : "changed by the pod"}`, () => {
    assert.equal(podContainers(makeFailedPod({ container }))[0]?.runsImageUnchanged, isOwn);
  });
}

const SHARED: readonly (readonly [says: string, spec: Readonly<Record<string, unknown>>])[] = [
  ["containers share their processes", { shareProcessNamespace: true }],
  ["containers share a user namespace of their own", { hostUsers: false }],
  ["containers see the node's processes", { hostPID: true }],
  ["names of hosts are its own", { hostAliases: [{ ip: "192.0.2.1", hostnames: ["download.example.com"] }] }],
  ["name servers are its own", { dnsConfig: { nameservers: ["192.0.2.1"] } }],
  ["profile of system calls is from the node", { securityContext: { seccompProfile: { type: "Localhost" } } }],
];
for (const [says, spec] of SHARED) {
  Deno.test(`podContainers() takes no container for the image's own whose pod's ${says}`, () => {
    assert.equal(podContainers(makeFailedPod({ spec }))[0]?.runsImageUnchanged, false);
  });
}

const ENDS: readonly (readonly [says: string, id: string, exitCode: number | undefined])[] = [
  ["none of the container that runs, whatever the one before did", idOf("b"), undefined],
  ["that of the one before", idOf("a"), 1],
];
for (const [says, id, exitCode] of ENDS) {
  Deno.test(`findContainer() answers the end of the container that the ID names: ${says}`, () => {
    const status = { containerID: idOf("b"), state: { running: {} }, lastState: ended(1, { id: idOf("a") }) };
    const found = findContainer(podContainers(makeFailedPod({ status })), id);
    assert.ok(found !== undefined);
    assert.equal(found.end?.exitCode, exitCode);
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
