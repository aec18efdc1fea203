// Builds and parses ENoExecEvents. Annotations hold what the MTO's status has no field for.
import * as z from "zod";
import { kubeObject } from "../../vocabulary/schema.ts";
import { parseTime, renderExactTime } from "../../vocabulary/time.ts";
import { listAt, printable, textAt } from "../../json.ts";
import { apiVersionOf, type KubeObject, Resource } from "../../k8s/types.ts";
import { EnoexecAnnotation, EnoexecLabel } from "../../names.ts";
import { isFailedImage } from "./failed_image.ts";

export interface EventOwner {
  /** Namespace of the DaemonSet and of the event: an owner in another namespace would not count as one. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface EnoexecStatus {
  readonly nodeName: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly containerID: string;
}

export interface ExecFailure {
  readonly nodeName: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUid: string;
  /** `containerd://<64 hex>`, as the pod's status has it. */
  readonly containerId: string;
  readonly command: string | undefined;
  /** Whether it was certainly the first program of the container. */
  readonly isEntryPoint: boolean;
  readonly atMs: number;
}

/** Longest command that is kept; a hostile program chooses its own name. */
const MAX_COMMAND_LENGTH = 128;
const CONTAINER_ID = /^.+:\/\/([a-f0-9]{64})$/;

/** The event is named by the container's ID: a second event before the first was handled is a conflict (409). */
export function buildEnoexecEvent(
  failure: ExecFailure,
  owner: EventOwner,
): { readonly object: KubeObject; readonly status: EnoexecStatus } {
  const { nodeName, podName, podNamespace, podUid, containerId, command, isEntryPoint, atMs } = failure;
  return {
    object: {
      apiVersion: apiVersionOf(Resource.enoexecEvents),
      kind: Resource.enoexecEvents.kind,
      metadata: {
        name: CONTAINER_ID.exec(containerId)?.[1] ?? podUid,
        namespace: owner.namespace,
        annotations: {
          [EnoexecAnnotation.node]: nodeName,
          [EnoexecAnnotation.podUid]: podUid,
          [EnoexecAnnotation.at]: renderExactTime(atMs),
          ...command !== undefined && { [EnoexecAnnotation.command]: printable(command.slice(0, MAX_COMMAND_LENGTH)) },
          ...isEntryPoint && { [EnoexecAnnotation.entryPoint]: "true" },
        },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: owner.name, uid: owner.uid }],
      },
    },
    status: { nodeName, podName, podNamespace, containerID: containerId },
  };
}

/** An ENoExecEvent as the leader reads it. Missing fields are empty. */
const EnoexecEventSchema = kubeObject.transform(({ metadata, status }) => {
  const annotations = metadata.annotations ?? {};
  return {
    name: metadata.name,
    nodeName: textAt(status, "nodeName"),
    podName: textAt(status, "podName"),
    podNamespace: textAt(status, "podNamespace"),
    containerID: textAt(status, "containerID"),
    podUid: textAt(annotations, EnoexecAnnotation.podUid),
    command: textAt(annotations, EnoexecAnnotation.command),
    isEntryPoint: textAt(annotations, EnoexecAnnotation.entryPoint) === "true",
    createdAtMs: parseTime(metadata.creationTimestamp) ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    /** Whether finalizers keep the event after its deletion. */
    isHeld: (listAt(metadata, "finalizers") ?? []).length > 0,
    error: metadata.labels?.[EnoexecLabel.error],
  };
});

export type EnoexecEvent = Readonly<z.output<typeof EnoexecEventSchema>>;

export function parseEnoexecEvent(object: KubeObject): EnoexecEvent {
  return EnoexecEventSchema.parse(object);
}

export interface EnoexecState {
  readonly name: string;
  /** Whether nothing is left to do: the event is marked with an error, or records a failed image. */
  readonly isHandled: boolean;
}

export function parseEnoexecState(object: KubeObject): EnoexecState {
  const { metadata } = object;
  const isMarked = metadata.labels?.[EnoexecLabel.error] !== undefined || isFailedImage(object);
  return { name: metadata.name, isHandled: isMarked && metadata.deletionTimestamp === undefined };
}
