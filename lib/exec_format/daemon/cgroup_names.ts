// Which container of which pod a cgroup belongs to, by the names of its folders alone: by the time anything can be read
// of a failed process in /proc, the process is gone.
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
// may be a container itself, so that the pair of pod and container stands anywhere on the path.

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
/** The folder below the container's in which crun starts the container. */
const CRUN_FOLDER = "container";
const SCHEMES: Readonly<Record<string, string>> = { "cri-containerd": "containerd", crio: "cri-o", docker: "docker" };

/** The containers on a path from the root inwards. The process is in the first: a container only adds folders below. */
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
