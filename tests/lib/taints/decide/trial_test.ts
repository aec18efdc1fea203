import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { judgeTrial } from "../../../../lib/taints/decide/plan.ts";

const POLICY = "ValidatingAdmissionPolicy 'x' with binding 'x' denied request";
const NO_RIGHT = 'pods "p" is forbidden: User "u" cannot patch resource "pods" in API group ""';
const NO_DRY_RUN = "does not support dry run";
const STALE = "the server rejected our request due to an error in our request";

const ANSWERS: readonly (readonly [what: string, status: number, text: string, trial: string, hasCauses?: boolean])[] =
  [
    ["a policy", 422, "ValidatingAdmissionPolicy 'x' with binding 'x' denied request: no", "no", true],
    ["a policy that answers 403", 403, "ValidatingAdmissionPolicy 'x' with binding 'x' denied request: no", "no"],
    ["a webhook", 403, 'admission webhook "x.example" denied the request: no', "no"],
    ["a webhook that answers 409", 409, 'admission webhook "x.example" denied the request: no', "no"],
    ["a webhook that answers 422", 422, 'admission webhook "x.example" denied the request: no', "no"],
    ["the API server's plugin", 403, 'pods "p" is forbidden: pod tolerations conflict with its namespace', "no"],
    ["the API server's own rules", 422, 'Pod "p" is invalid: spec.tolerations: Forbidden', "no", true],
    ["a pod that is too large", 413, "Request entity too large: limit is 3145728", "no"],
    ["no right", 403, NO_RIGHT, "unknown"],
    ["a webhook with side effects", 400, `admission webhook "x.example" ${NO_DRY_RUN}`, "unknown"],
    ["a policy that repeats words of the pod", 403, `${POLICY}: ${NO_RIGHT}`, "no"],
    ["a policy that repeats other words of the pod", 400, `${POLICY}: it ${NO_DRY_RUN}`, "no"],
    ["a plugin that repeats words of the pod", 403, `pods "p" is forbidden: it ${NO_DRY_RUN}`, "no"],
    ["a schema that repeats words of the pod", 422, `Pod "p" is invalid: ${NO_RIGHT}`, "no", true],
    ["a pod that has changed", 422, STALE, "unknown"],
    ["a pod that is gone", 404, 'pods "p" not found', "unknown"],
    ["a server that does not answer", 0, "connection refused", "unknown"],
    ["a server that is too busy", 429, "too many requests", "unknown"],
  ];

for (const [what, status, text, accepts, hasCauses = false] of ANSWERS) {
  Deno.test(`judgeTrial(): after the answer of ${what} the pod ${accepts === "no" ? "refuses" : "is unknown"}`, () => {
    assert.equal(judgeTrial(new ApiError(text, { status, hasCauses }), text).accepts, accepts);
  });
}
