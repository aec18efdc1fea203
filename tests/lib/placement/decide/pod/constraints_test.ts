import assert from "node:assert/strict";
import {
  hasPreferredArchitecture,
  hasRequiredArchitecture,
} from "../../../../../lib/placement/decide/pod/constraints.ts";
import { hasControlPlaneSelector } from "../../../../../lib/placement/decide/ignore.ts";
import { imagesToInspect } from "../../../../../lib/placement/decide/images_to_inspect.ts";
import type { PodView } from "../../../../../lib/placement/decide/pod/pod_view.ts";
import { AMD64, ARCH, type Json, make, type Row, rows, running } from "../make.ts";

function says(
  id: string,
  [name, holds]: readonly [string, (pod: PodView) => boolean],
  [spec, expected]: readonly [Json, boolean],
): Row {
  const title = `${name} says ${expected} for ${JSON.stringify(spec).slice(0, 120)}`;
  return [id, title, () => assert.equal(holds(make.view(make.pod(spec))), expected)];
}

const CONTROL = ["hasControlPlaneSelector()", hasControlPlaneSelector] as const;
const R_RULE = ["hasRequiredArchitecture()", hasRequiredArchitecture] as const;
const P_RULE = ["hasPreferredArchitecture()", hasPreferredArchitecture] as const;
const MASTER = "node-role.kubernetes.io/master";
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";

function daemon(id: string, owners: unknown, expected: boolean): Row {
  const raw = make.pod({}, owners === undefined ? {} : { ownerReferences: owners });
  const title = `parsePod() finds a DaemonSet controller: ${expected}`;
  return [id, title, () => assert.equal(make.view(raw).isDaemonSetControlled, expected)];
}

function secrets(id: string, spec: Json, expected: readonly string[]): Row {
  return [id, `parsePod() reads the pull secrets [${expected}]`, () => {
    assert.deepEqual(make.view(make.pod(spec)).imagePullSecrets, expected);
  }];
}

function images(id: string, spec: Json, expected: readonly string[]): Row {
  return [id, `imagesToInspect() wants ${expected.join(", ")}`, () => {
    const wanted = imagesToInspect(make.view(make.pod(spec)), make.settings());
    assert.deepEqual(
      wanted.map(({ image, pullsAlways }) => (pullsAlways ? `${image} always` : image)).sort(),
      [...expected].sort(),
    );
  }];
}

const THREE = [make.container("foo"), make.container("baz"), make.container("foo")];
const ONE_OF_TWO = make.nodeAffinity([make.term([ARCH, AMD64]), make.term(["foo", "bar"])]);

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
  images("PM-14", running("bar/foo:latest"), ["bar/foo:latest"]),
  images("PM-15", { containers: THREE }, ["foo", "baz"]),
  images("PM-16", { initContainers: [make.container("foo/bar")], containers: THREE }, ["foo/bar", "foo", "baz"]),
  images("PM-17", {
    initContainers: [make.container("foo/bar")],
    containers: [...THREE, make.container("foo/pull:always", "Always")],
  }, ["foo/bar", "foo", "baz", "foo/pull:always always"]),
  images("DV-38", { containers: [make.container("foo", "Always"), make.container("foo", "IfNotPresent")] }, [
    "foo always",
    "foo",
  ]),
  says("PM-72", P_RULE, [{}, false]),
  says("PM-73", P_RULE, [{ affinity: {} }, false]),
  says("PM-74", P_RULE, [{ affinity: make.nodeAffinity() }, false]),
  says("PM-75", P_RULE, [{ affinity: make.nodeAffinity(undefined, [make.preferredTerm(1, ARCH, AMD64)]) }, true]),
  says("PM-76", P_RULE, [{ affinity: make.nodeAffinity(undefined, [make.preferredTerm(1, "foo", "bar")]) }, false]),
  says("PM-77", R_RULE, [{ nodeSelector: { [ARCH]: AMD64 } }, true]),
  says("PM-78", R_RULE, [{}, false]),
  says("PM-79", R_RULE, [{ affinity: {} }, false]),
  says("PM-80", R_RULE, [{ affinity: make.nodeAffinity() }, false]),
  says("PM-81", R_RULE, [{ affinity: make.nodeAffinity([make.term([ARCH, AMD64])]) }, true]),
  says("PM-82", R_RULE, [{ affinity: make.nodeAffinity([make.term(["foo", "bar"])]) }, false]),
  says("PM-83", R_RULE, [{ affinity: ONE_OF_TWO }, false]),
]);

Deno.test("DV-37 (different: a node pulls its own platform of an index) imagesToInspect() takes image volumes in", () => {
  const pod = make.view(make.pod({ volumes: [{ name: "v", image: { reference: "data", pullPolicy: "Always" } }] }));
  const wanted = imagesToInspect(pod, make.settings());
  assert.deepEqual(wanted.map(({ image, pullsAlways }) => [image, pullsAlways]), [["multi", false], ["data", true]]);
});

Deno.test("hasRequiredArchitecture() says true for a required affinity without terms", () => {
  assert.equal(hasRequiredArchitecture(make.view(make.pod({ affinity: make.nodeAffinity([]) }))), true);
  const byField = make.nodeAffinity([{ matchFields: [{ key: ARCH }] }]);
  assert.equal(hasRequiredArchitecture(make.view(make.pod({ affinity: byField }))), false);
});
