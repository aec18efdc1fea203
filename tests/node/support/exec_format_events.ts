// What is reported of exec format errors, in both forms: the ENoExecEvents of daemons, which the leader deletes as soon as it
// has handled them, and the events on pods.
import { systemClock } from "../../../lib/clock.ts";
import { type EnoexecEvent, parseEnoexecEvent } from "../../../lib/exec_format/decide/enoexec_event.ts";
import { isFailedImage } from "../../../lib/exec_format/decide/failed_image.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { Reflector } from "../../../lib/k8s/reflector.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { EnoexecAnnotation } from "../../../lib/names.ts";
import { read } from "../../cluster/support/cluster_access.ts";
import type { PodName } from "../../cluster/support/pods.ts";
import { waitUntil } from "../../cluster/support/wait.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { daemonLog } from "./exec_format_daemon.ts";
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

export interface WrittenEvent extends EnoexecEvent {
  readonly uid: string;
  readonly author: string;
}

export interface EventFollower extends AsyncDisposable {
  /** All that there were, handled ones included; of each the latest state. */
  all(): readonly WrittenEvent[];
  /** Those of a pod, once there are as many with their status. */
  of(pod: PodName, count?: number): Promise<readonly WrittenEvent[]>;
}

export async function followEvents(lab: OpenLab): Promise<EventFollower> {
  await using undo = new AsyncDisposableStack();
  const api = undo.use(openTestApi(await readKubeconfigAccess(lab.kubeconfigFile, { clock: systemClock })));
  const seen = new Map<string, WrittenEvent>();
  const reflector = new Reflector<WrittenEvent>({
    retain: { kind: "all" },
    api,
    resource: Resource.enoexecEvents,
    namespace: NAMESPACE,
    parse: (object) => isFailedImage(object) ? undefined : readWritten(object),
    onChange: ({ kind, value }) => kind === "apply" ? void seen.set(value.uid, value) : undefined,
    clock: systemClock,
    log: silentLogger,
    name: "ENoExecEvents",
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  undo.defer(async () => {
    stop.abort();
    await running;
  });
  await reflector.synced(AbortSignal.timeout(60_000));
  const opened = undo.move();
  const all = (): readonly WrittenEvent[] => [...seen.values()];
  const of: EventFollower["of"] = ({ namespace, name }, count = 1) =>
    waitUntil(`${count} ENoExecEvents of pod ${name}`, () => {
      const found = all().filter(({ podName, podNamespace }) => podName === name && podNamespace === namespace);
      return Promise.resolve(found.length >= count && found);
    }, { deadlineMs: 60_000 }).catch(async (cause) => {
      throw new Error(`Cannot find the events: ${JSON.stringify(all())}\n${await daemonLog(lab)}`, { cause });
    });
  return { all, of, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function readWritten(object: KubeObject): WrittenEvent {
  const { uid = "", annotations } = object.metadata;
  return { ...parseEnoexecEvent(object), uid, author: annotations?.[EnoexecAnnotation.node] ?? "" };
}

export interface PodReport {
  readonly message: string;
  readonly createdAtMs: number;
}

/** The event ExecFormatError on a pod, once there is one. */
export async function reportOn(lab: OpenLab, { namespace, name }: PodName): Promise<PodReport> {
  const selector = encodeURIComponent(`involvedObject.name=${name},reason=ExecFormatError`);
  const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`;
  return await waitUntil(`the event on pod ${name}`, async () => {
    const found = read(await lab.get(path), "items", 0);
    const created = read(found, "metadata", "creationTimestamp");
    return found !== undefined && { message: String(read(found, "message")), createdAtMs: Date.parse(String(created)) };
  }, { deadlineMs: 60_000 }).catch(async (cause) => {
    const body = await lab.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
    throw new Error(`Cannot find the event: ${JSON.stringify(body)}\n${await archwayLog(lab)}`, { cause });
  });
}

export async function archwayLog(lab: OpenLab): Promise<string> {
  const select = ["-l", "app.kubernetes.io/name=archway", "--prefix", "--tail=100"];
  return await kubectl(lab, "-n", NAMESPACE, "logs", ...select);
}

/** The ENoExecEvents that are there now, by name; records of images among them. */
export async function eventsLeft(
  lab: OpenLab,
  counts: (failedImage: unknown) => boolean = () => true,
): Promise<readonly string[]> {
  const path = `/apis/multiarch.openshift.io/v1beta1/namespaces/${NAMESPACE}/enoexecevents`;
  return (await lab.list(path))
    .filter((item) => counts(read(item, "metadata", "annotations", EnoexecAnnotation.failedImage)))
    .map((item) => String(read(item, "metadata", "name")));
}
