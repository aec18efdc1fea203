// One start of a program that the kernel refused with "exec format error", as a source of such news saw it.

/** One failed start of a program. */
export interface ExecFailure {
  /** The node on which it happened. */
  readonly nodeName: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUid: string;
  /** `containerd://<64 hex>`, as the pod's status has it. */
  readonly containerId: string;
  /** What the process was called, or the file that it was to start; undefined when it could not be read. */
  readonly command: string | undefined;
  /** Whether it was the first program of the container: nothing had run in it before. */
  readonly isEntryPoint: boolean;
  /** Wall time (epoch ms). */
  readonly atMs: number;
}
