// The certificate authority of an installation, changed now instead of in eight months by the state in its Secret, and the
// paths by which the API server calls it.
import { connect } from "node:tls";
import { WebhookName } from "../../../lib/names.ts";
import { issueAuthority } from "../../../lib/tls/issue.ts";
import { AUTHORITY_SECRET } from "../../../lib/server/certificate/authority_store.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

/** Two looks at the Secret (30 s each, and a fifth): every replica has put the successor into its bundle by then. */
const OVERLAP_MS = 40_000;
const DAY_MS = 86_400_000;
const PORT = 9443;
const CONFIGS = "clusterpodplacementconfigs.multiarch.openshift.io";
const SECRET_PATH = /^\/[0-9a-f]{64}\/[a-z0-9-]+$/;

/** Stages a successor that signs soon, as Archway itself does when its authority ages. Gives its certificate, PEM. */
export async function stageAuthority(lab: OpenLab): Promise<string> {
  const nowMs = Date.now();
  const { cert, key } = await issueAuthority({ nowMs, lifetimeMs: 365 * DAY_MS });
  const stringData = {
    "successor.crt": cert,
    "successor.key": key,
    "successor.signs-at-ms": String(nowMs + OVERLAP_MS),
  };
  const patch = JSON.stringify({ stringData });
  await kubectl(lab, "-n", NAMESPACE, "patch", "secret", AUTHORITY_SECRET, "--type=merge", "-p", patch);
  return cert;
}

/** Whether every pod of Archway serves a certificate of this authority. */
export async function servesWith(lab: OpenLab, authorityPem: string): Promise<boolean> {
  const select = ["-l", "app.kubernetes.io/name=archway", "-o", "jsonpath={.items[*].status.podIP}"];
  const addresses = (await kubectl(lab, "-n", NAMESPACE, "get", "pods", ...select)).split(" ");
  const results = await Promise.all(addresses.map((host) => shakesHands(host, authorityPem)));
  return results.every((result) => result);
}

function shakesHands(host: string, authorityPem: string): Promise<boolean> {
  const servername = `archway-webhook.${NAMESPACE}.svc`;
  return new Promise((resolve) => {
    const socket = connect({ host, port: PORT, servername, ca: [authorityPem] });
    const end = (result: boolean) => (): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once("secureConnect", end(true));
    socket.once("error", end(false));
  });
}

/** Whether the API server takes and calls a secret path in every webhook that Archway has: mutating, validating, conversion. */
export async function hasSecretPaths(lab: OpenLab): Promise<boolean> {
  const path = (place: string): string => `jsonpath={${place}.service.path}{" "}`;
  const found = await Promise.all([
    ["mutatingwebhookconfiguration", WebhookName.configuration, path(".webhooks[*].clientConfig")],
    ["validatingwebhookconfiguration", WebhookName.validatingConfiguration, path(".webhooks[*].clientConfig")],
    ["crd", CONFIGS, path(".spec.conversion.webhook.clientConfig")],
  ].map(([kind = "", name = "", output = ""]) => kubectl(lab, "get", kind, name, "-o", output)));
  const paths = found.flatMap((text) => text.trim().split(" "));
  return paths.length >= 4 && paths.every((each) => SECRET_PATH.test(each));
}
