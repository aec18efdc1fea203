// Before OpenShift 4.23 a Job hands its digest over by `oc`. On a real API server the script leaves what the machine config
// operator's own program left, by its record; kubectl stands for oc, which is built from it.
import assert from "node:assert/strict";
import DIGEST_SCRIPT from "../../lib/builds/decide/job/digest.sh" with { type: "text" };
import { readRecord } from "../oracles/record.ts";
import { plain, questionsOf } from "../oracles/subject.ts";
import { DIGEST_MAPS } from "../oracles/subjects/builds.ts";
import { runCommand } from "../support/commands.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { read } from "./support/cluster_access.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";

const MCO = "openshift-machine-config-operator";

Deno.test("the digest of a build is handed over by oc as by the machine config operator's program, and over again", async () => {
  await using cluster = await bareControlPlane();
  await cluster.request("POST", "/api/v1/namespaces", {
    ...{ apiVersion: "v1", kind: "Namespace", metadata: { name: MCO } },
  });
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  await Deno.symlink(cluster.kubectlFile, `${folder}/oc`);
  const { answers } = await readRecord(DIGEST_MAPS);
  for (const [at, { name, namespace, labels, file }] of questionsOf(DIGEST_MAPS).slice(0, 4).entries()) {
    await Deno.writeTextFile(`${folder}/digest`, file);
    const options = Object.entries({ "configmap-name": name, digestfile: `${folder}/digest`, namespace, labels });
    const flags = options.map(([option, value]) => `--${option}=${value}`);
    const path = `${folder}:${Deno.env.get("PATH") ?? ""}`;
    const env = { PATH: path, KUBECONFIG: cluster.kubeconfigFile, HOME: folder };
    for (let turn = 0; turn < 2; turn++) {
      await runCommand("/bin/bash", ["-c", DIGEST_SCRIPT, "create-digest-configmap", ...flags], { env });
    }
    const { body } = await cluster.request("GET", `/api/v1/namespaces/${namespace}/configmaps/${name}`);
    const made = { data: read(body, "data"), labels: read(body, "metadata", "labels") };
    assert.deepEqual(plain(made), answers[at]);
  }
});
