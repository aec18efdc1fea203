// One report of a container that was to run a program of another architecture, as people read it.

/** One such container. */
export interface ReportedFailure {
  /** Wall time (epoch ms) of the report. */
  readonly atMs: number;
  readonly namespace: string;
  readonly pod: string;
  /** Empty when it is not known. */
  readonly container: string;
  readonly node: string;
  /** Of the node. */
  readonly architecture: string;
}
