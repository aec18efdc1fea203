// What the API server of the nodes has refused Archway for want of a right.
import { readAuditLog } from "../../cluster/support/audit_log.ts";
import { NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

/** How long the audit log is (bytes). */
export async function auditLength(lab: OpenLab): Promise<number> {
  return (await Deno.stat(lab.auditLogFile ?? "")).size;
}

/** What is tried, and allowed where an administrator grants it: the log of a container that failed, Deployments that the MTO left. */
const TRIED = [/\/pods\/[^/]+\/log\?/, /\/deployments\/(?:pod-placement-controller|enoexec-event-handler-controller)$/];

/** Requests of Archway, or of another of its accounts, that were refused since the log was so long, but for those tried. */
export async function refusedSince(
  lab: OpenLab,
  fromByte: number,
  { account = "archway", namespace = NAMESPACE }: { readonly account?: string; readonly namespace?: string } = {},
): Promise<readonly string[]> {
  const user = `system:serviceaccount:${namespace}:${account}`;
  const requests = await readAuditLog(lab.auditLogFile ?? "", { fromByte });
  return requests.filter((request) =>
    request.user === user && request.status === 403 && !TRIED.some((path) => path.test(request.uri))
  ).map(({ verb, uri }) => `${verb} ${uri}`);
}
