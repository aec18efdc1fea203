// What grows, and how far: each point differs from the base in one thing. Pure.

export interface GrowthPoint {
  readonly pods: number;
  /** Distinct tags that are known when the burst begins. */
  readonly images: number;
  readonly nodes: number;
  /** Each with a PodPlacementConfig; the pods are spread over them. */
  readonly namespaces: number;
  /** Pods that run already, spread over nodes and namespaces. Default none. */
  readonly running?: number;
}

export type Axis = Exclude<keyof GrowthPoint, "running">;

export const AXES: Readonly<Record<Axis, readonly number[]>> = {
  pods: [100, 1_000, 10_000],
  images: [10, 1_000, 20_000],
  nodes: [2, 500, 5_000],
  namespaces: [1, 100, 1_000],
};

export const BASE: GrowthPoint = { pods: 1_000, images: 10, nodes: 2, namespaces: 1 };

/** A cluster as large as Kubernetes says that it supports: https://kubernetes.io/docs/setup/best-practices/cluster-large/. */
export const LARGE: GrowthPoint = { pods: 1_000, images: 1_000, nodes: 5_000, namespaces: 2_000, running: 150_000 };

export function pointAt(axis: Axis, value: number): GrowthPoint {
  return { ...BASE, [axis]: value };
}

export function nameOf({ pods, images, nodes, namespaces, running }: GrowthPoint): string {
  const burst = `pods=${pods} images=${images} nodes=${nodes} namespaces=${namespaces}`;
  return running === undefined ? burst : `${burst} running=${running}`;
}

export function allPoints(): readonly GrowthPoint[] {
  const points = new Map([[nameOf(BASE), BASE]]);
  for (const axis of parseAxes()) {
    for (const value of AXES[axis]) points.set(nameOf(pointAt(axis, value)), pointAt(axis, value));
  }
  return [...points.values(), LARGE];
}

/** The axes in the order they are shown; with a name, that one. Throws one line when there is no such axis. */
export function parseAxes(name?: string): readonly Axis[] {
  const axes = ["pods", "images", "nodes", "namespaces"] as const;
  const chosen = axes.filter((axis) => name === undefined || axis === name);
  if (chosen.length === 0) throw new Error(`Cannot grow "${name}": not one of ${axes.join(", ")}.`);
  return chosen;
}
