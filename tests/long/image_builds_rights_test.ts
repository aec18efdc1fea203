// Least privilege of image builds, proved by the audit log: a request that no role allows and a right that no request needed both
// fail. Secrets are touched in one namespace.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseManifest } from "../../manifests/generate/kustomize.ts";
import { BUILD_ACCOUNT, BuildBed, ignore, REBUILD } from "../cluster/support/build_bed.ts";
import { BUILD_NAMESPACE, content } from "../cluster/support/build_objects.ts";
import { assertUsed, readRights, readUses } from "../cluster/support/rights.ts";
import { waitUntil } from "../cluster/support/wait.ts";

const COMPONENT = fileURLToPath(new URL("../../manifests/components/image-builds/", import.meta.url));
const GROUP = "machineconfiguration.openshift.io";

/** Rights that no request of this run can need, and why they are granted. */
const EXCUSED: Readonly<Record<string, string>> = {
  [`update machineosconfigs.${GROUP}/finalizers (role archway-image-builds)`]:
    "asked by OwnerReferencesPermissionEnforcement, which is on here, of the authorizer: without it the run would fail",
  [`update machineosbuilds.${GROUP}/finalizers (role archway-image-builds)`]: "the same",
  [`patch events (role archway-image-builds)`]: "an event that is repeated counts up",
};

/** Needed when another client, or an earlier try, was faster: of what is there already, or changed meanwhile. */
const RACES = [
  ...["configmaps", "secrets", "jobs.batch"].map((resource) =>
    `get ${resource} in ${BUILD_NAMESPACE} (role archway-image-builds-jobs)`
  ),
  `patch jobs.batch in ${BUILD_NAMESPACE} (role archway-image-builds-jobs)`,
];

Deno.test(
  "image builds: the account has every right that it uses and uses every right that it has",
  { ignore },
  async () => {
    await using bed = await BuildBed.open({ nodes: [{ name: "amd64-1", arch: "amd64" }] });
    // Nothing serves its tags here: that is proved elsewhere. What is asked for, and may be, shows all the same.
    await bed.publishRoute();
    await bed.startArchway();
    const repository = `${BUILD_NAMESPACE}/os`;
    const first = await bed.publish({ repository, ...content("a") });
    await bed.addNode({ name: "arm64-1", arch: "arm64" });
    await bed.waitForPublished({ other: first });
    const third = await bed.publish({ repository, ...content("b") });
    await bed.annotate({ [REBUILD]: "arm64" });
    await bed.waitForPublished({ other: third });
    await bed.settled();
    await bed.deleteConfig();
    await waitUntil("no builds", async () => (await bed.builds()).length === 0);
    await bed.settled();
    const manifests = ["role", "build_role"].map((name) => Deno.readTextFileSync(`${COMPONENT}${name}.yaml`));
    const rights = readRights(manifests.flatMap((text) => [...parseManifest(text)]), "archway-image-builds");
    const uses = readUses(await Deno.readTextFile(bed.cluster.auditLogFile ?? ""), BUILD_ACCOUNT);
    assert.ok(uses.length > 100);
    assertUsed(rights, uses, [...Object.keys(EXCUSED), ...RACES]);
    assert.deepEqual(uses.filter(({ status }) => status === 403), []);
    const secrets = uses.filter(({ resource }) => resource === "secrets").map(({ namespace }) => namespace);
    assert.deepEqual([...new Set(secrets)], [BUILD_NAMESPACE]);
  },
);
