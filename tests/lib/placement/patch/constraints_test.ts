// What a pod's own affinity says: required and preferred terms, the control plane, DaemonSets, images, secrets.
import assert from "node:assert/strict";
import { hasPreferredArchitecture, hasRequiredArchitecture } from "../../../../lib/placement/patch/constraints.ts";
import { hasControlPlaneSelector } from "../../../../lib/placement/ignore.ts";
import { imagesToInspect } from "../../../../lib/placement/images.ts";
import { makeSettings } from "../../../../lib/placement/config/settings.ts";
import type { PodView } from "../../../../lib/placement/types.ts";
import {
  AMD64,
  ARCH,
  ARM64,
  container,
  type Json,
  nodeAffinity,
  podOf,
  preferredTerm,
  rawPod,
  type Row,
  rows,
  term,
} from "../make.ts";

function says(
  id: string,
  [name, holds]: readonly [string, (pod: PodView) => boolean],
  [spec, expected]: readonly [Json, boolean],
): Row {
  const title = `${name} says ${expected} for ${JSON.stringify(spec).slice(0, 120)}`;
  return [id, title, () => assert.equal(holds(podOf(rawPod(spec))), expected)];
}

const CONTROL = ["hasControlPlaneSelector()", hasControlPlaneSelector] as const;
const R_RULE = ["hasRequiredArchitecture()", hasRequiredArchitecture] as const;
const P_RULE = ["hasPreferredArchitecture()", hasPreferredArchitecture] as const;
const MASTER = "node-role.kubernetes.io/master";
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";

function daemon(id: string, owners: unknown, expected: boolean): Row {
  const raw = rawPod({}, owners === undefined ? {} : { ownerReferences: owners });
  const title = `parsePod() finds a DaemonSet controller: ${expected}`;
  return [id, title, () => assert.equal(podOf(raw).isDaemonSetControlled, expected)];
}

function secrets(id: string, spec: Json, expected: readonly string[]): Row {
  return [id, `parsePod() reads the pull secrets [${expected}]`, () => {
    assert.deepEqual(podOf(rawPod(spec)).imagePullSecrets, expected);
  }];
}

function images(id: string, spec: Json, expected: readonly string[]): Row {
  return [id, `imagesToInspect() wants ${expected.join(", ")}`, () => {
    const wanted = imagesToInspect(podOf(rawPod(spec)), makeSettings());
    assert.deepEqual(
      wanted.map(({ image, always }) => (always ? `${image} always` : image)).sort(),
      [...expected].sort(),
    );
  }];
}

const THREE = [container("foo"), container("baz"), container("foo")];
const ONE_OF_TWO = nodeAffinity([term([ARCH, AMD64]), term(["foo", "bar"])]);

rows([
  says("MD-23", CONTROL, [{}, false]),
  says("MD-24", CONTROL, [{ nodeSelector: {} }, false]),
  says("MD-25", CONTROL, [{ nodeSelector: { foo: "bar" } }, false]),
  says("MD-26", CONTROL, [{ nodeSelector: { foo: "bar", [CONTROL_PLANE]: "" } }, true]),
  says("MD-27", CONTROL, [{ nodeSelector: { foo: "bar", [MASTER]: "", baz: "x" } }, true]),
  daemon("MD-31", undefined, false),
  daemon("MD-32", [{ kind: "Deployment", name: "d", controller: true }], false),
  daemon("MD-33", [{ kind: "DaemonSet", name: "d", controller: true }], true),
  secrets("PM-01", {}, []),
  secrets("PM-02", { imagePullSecrets: [{ name: "my-secret" }] }, ["my-secret"]),
  secrets("PM-03", { imagePullSecrets: [] }, []),
  images("PM-14", { containers: [container("bar/foo:latest")] }, ["bar/foo:latest"]),
  images("PM-15", { containers: THREE }, ["foo", "baz"]),
  images("PM-16", { initContainers: [container("foo/bar")], containers: THREE }, ["foo/bar", "foo", "baz"]),
  images("PM-17", {
    initContainers: [container("foo/bar")],
    containers: [...THREE, container("foo/pull:always", "Always")],
  }, ["foo/bar", "foo", "baz", "foo/pull:always always"]),
  images("DV-37", { volumes: [{ name: "v", image: { reference: "data" } }] }, ["multi"]),
  images("DV-38", { containers: [container("foo", "Always"), container("foo", "IfNotPresent")] }, [
    "foo always",
    "foo",
  ]),
  says("PM-72", P_RULE, [{}, false]),
  says("PM-73", P_RULE, [{ affinity: {} }, false]),
  says("PM-74", P_RULE, [{ affinity: nodeAffinity() }, false]),
  says("PM-75", P_RULE, [{ affinity: nodeAffinity(undefined, [preferredTerm(1, ARCH, AMD64)]) }, true]),
  says("PM-76", P_RULE, [{ affinity: nodeAffinity(undefined, [preferredTerm(1, "foo", "bar")]) }, false]),
  says("PM-77", R_RULE, [{ nodeSelector: { [ARCH]: AMD64 } }, true]),
  says("PM-78", R_RULE, [{}, false]),
  says("PM-79", R_RULE, [{ affinity: {} }, false]),
  says("PM-80", R_RULE, [{ affinity: nodeAffinity() }, false]),
  says("PM-81", R_RULE, [{ affinity: nodeAffinity([term([ARCH, AMD64])]) }, true]),
  says("PM-82", R_RULE, [{ affinity: nodeAffinity([term(["foo", "bar"])]) }, false]),
  says("PM-83", R_RULE, [{ affinity: ONE_OF_TWO }, false]),
]);

Deno.test("imagesToInspect() takes image volumes in when they are required", () => {
  const pod = podOf(rawPod({ volumes: [{ name: "v", image: { reference: "data", pullPolicy: "Always" } }] }));
  const wanted = imagesToInspect(pod, makeSettings({ imageVolumes: "require" }));
  assert.deepEqual(wanted.map(({ image, always }) => [image, always]), [["multi", false], ["data", true]]);
});

Deno.test("hasRequiredArchitecture() says true for a required affinity without terms", () => {
  assert.equal(hasRequiredArchitecture(podOf(rawPod({ affinity: nodeAffinity([]) }))), true);
  assert.equal(
    hasRequiredArchitecture(podOf(rawPod({ affinity: nodeAffinity([{ matchFields: [{ key: ARCH }] }]) }))),
    false,
  );
  assert.equal(
    hasPreferredArchitecture(podOf(rawPod({ affinity: nodeAffinity(undefined, [preferredTerm(1, ARCH, ARM64)]) }))),
    true,
  );
});
