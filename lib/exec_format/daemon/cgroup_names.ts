// Finds the container and the pod of a cgroup by the names of its folders alone: a failed process is gone before
// anything can be read of it in /proc.
//
// | runtime    | driver   | folder of the container     | folder of the pod                        |
// |------------|----------|-----------------------------|------------------------------------------|
// | containerd | cgroupfs | ID                          | podUID                                   |
// | containerd | systemd  | cri-containerd-ID.scope     | kubepods[-QOS]-podUID.slice, UID with _  |
// | CRI-O      | cgroupfs | crio-ID                     | podUID                                   |
// | CRI-O      | systemd  | crio-ID.scope               | kubepods[-QOS]-podUID.slice              |
// | docker     | cgroupfs | ID                          | podUID                                   |
// | docker     | systemd  | docker-ID.scope             | kubepods[-QOS]-podUID.slice              |
//
// A container may have folders of its own below (crun makes `container`, systemd in a container makes many), and a node
// may be a container itself. So the pair of pod and container can be anywhere on the path.

export interface CgroupContainer {
  /** With dashes; for a static pod it is the hash of its configuration. */
  readonly podUid: string;
  /** 64 hexadecimal digits. */
  readonly id: string;
  /** The scheme of `containerID` in a pod's status; undefined where the name does not show it. */
  readonly runtime: string | undefined;
  /** Whether the process is in the folder that the runtime made, and not in one that the container made below it. */
  readonly isInnermost: boolean;
}

const POD = /^(?:pod|(?:[a-z]+-)?kubepods(?:-burstable|-besteffort)?-pod)(.+?)(?:\.slice)?$/;
const UID = /^(?:[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})$/;
const CONTAINER = /^(?:(cri-containerd|crio|docker)-)?([0-9a-f]{64})(?:\.scope)?$/;
/** The folder in which crun starts a container, below the container's own. */
const CRUN_FOLDER = "container";
const SCHEMES: Readonly<Record<string, string>> = { "cri-containerd": "containerd", crio: "cri-o", docker: "docker" };

/** The containers on a path from the root inwards. The process is in the first: containers add folders only below. */
export function containersOn(path: readonly string[]): readonly CgroupContainer[] {
  return path.flatMap((name, at) => {
    const podUid = podUidOf(path[at - 1] ?? "");
    const [, prefix = "", id] = CONTAINER.exec(name) ?? [];
    if (podUid === undefined || id === undefined) return [];
    const below = path.slice(at + 1);
    const isInnermost = below.length === 0 || prefix === "crio" && below.join("/") === CRUN_FOLDER;
    return [{ podUid, id, runtime: SCHEMES[prefix], isInnermost }];
  });
}

function podUidOf(name: string): string | undefined {
  const [, text = ""] = POD.exec(name) ?? [];
  return UID.test(text) ? text.replaceAll("_", "-") : undefined;
}
