// The pods of one row of the chaos table: created before and during the fault, followed until each is on a node, judged.
import { repeatedly } from "../cluster/support/wait.ts";
import { isReleased, isScheduled, listPods, type PodOutcome, renderPod } from "../cluster/support/pods.ts";
import { index, type WalkBed } from "../cluster/support/walk_bed.ts";
import { addFate, type Fates, judgePod, NO_FATES } from "./fate.ts";

const POLL_EVERY_MS = 150;

/** Images of a row, or of a pod: pods have one, or two that share an architecture. */
const IMAGES: readonly (readonly string[])[] = [["arm64"], ["amd64", "arm64"], ["s390x"], ["arm64", "ppc64le"]];
/** What pods are made of, by places in {@link IMAGES}. The shared architectures are the intersection. */
const RECIPES: readonly (readonly number[])[] = [[0], [1], [2], [1, 3], [3]];

interface Followed {
  readonly architectures: readonly string[];
  readonly createdMs: number;
  releasedMs?: number;
  scheduledMs?: number;
  last?: PodOutcome;
  isRefused: boolean;
}

/** Follows the pods of one namespace from a poll of its own until disposed. */
export class RowPods implements AsyncDisposable {
  readonly namespace: string;
  readonly #bed: WalkBed;
  readonly #areImagesShared: boolean;
  readonly #references = new Map<string, Promise<string>>();
  readonly #pods = new Map<string, Followed>();
  readonly #polling: AsyncDisposable;
  #begun = 0;

  private constructor(bed: WalkBed, place: { readonly namespace: string; readonly areImagesShared: boolean }) {
    this.#bed = bed;
    this.namespace = place.namespace;
    this.#areImagesShared = place.areImagesShared;
    this.#polling = repeatedly(POLL_EVERY_MS, () => this.#look());
  }

  /** Makes the namespace. Its images, which are not cached anywhere, are shared by all pods, or each pod has its own. */
  static async open(
    bed: WalkBed,
    { name, areImagesShared }: { readonly name: string; readonly areImagesShared: boolean },
  ): Promise<RowPods> {
    return new RowPods(bed, { namespace: await bed.controlPlane.createNamespace(name), areImagesShared });
  }

  async create(): Promise<void> {
    const number = this.#begun++;
    const recipe = RECIPES[number % RECIPES.length] ?? [];
    const name = `pod-${number}`;
    const set = this.#areImagesShared ? 0 : number;
    const images = await Promise.all(recipe.map((place) => this.#reference(place, set)));
    const architectures = recipe.map((place) => IMAGES[place] ?? [])
      .reduce((shared, next) => shared.filter((one) => next.includes(one)));
    const followed: Followed = { architectures, createdMs: performance.now(), isRefused: false };
    this.#pods.set(name, followed);
    // A note in more than ASCII, so that the watch carries characters of several bytes.
    const pod = renderPod({ name, images, annotations: { note: "größer · 大きい" } });
    const path = `/api/v1/namespaces/${this.namespace}/pods`;
    const signal = AbortSignal.timeout(15_000);
    const answer = await this.#bed.controlPlane.request("POST", path, pod, { signal }).catch(() => undefined);
    followed.isRefused = answer?.status !== 201;
  }

  async #reference(place: number, set: number): Promise<string> {
    const repository = `${this.namespace}/app-${place}-${set}`;
    const push = async (): Promise<string> => {
      const { digest } = await this.#bed.registry.push(repository, "v1", index(...IMAGES[place] ?? []));
      // By tag and by digest in turn: what is named by its digest is verified.
      return `${this.#bed.proxy.host}/${repository}${place % 2 === 0 ? ":v1" : `@${digest}`}`;
    };
    const reference = this.#references.get(repository) ?? push();
    this.#references.set(repository, reference);
    return await reference;
  }

  get created(): number {
    return this.#existing().length;
  }

  areAllGated(): boolean {
    return this.#existing().every(({ last, releasedMs }) => last !== undefined && releasedMs === undefined);
  }

  areAllPlaced(): boolean {
    return this.#existing().every(({ scheduledMs }) => scheduledMs !== undefined);
  }

  /** The longest that a pod held the gate (ms); one that still does counts until now. */
  worstGateMs(): number {
    const nowMs = performance.now();
    return Math.max(0, ...this.#existing().map(({ createdMs, releasedMs = nowMs }) => releasedMs - createdMs));
  }

  lastPlacedAfterMs(sinceMs: number): number {
    const nowMs = performance.now();
    return Math.max(0, ...this.#existing().map(({ scheduledMs = nowMs }) => scheduledMs - sinceMs));
  }

  async judge(
    nodes: ReadonlyMap<string, string>,
  ): Promise<{ readonly fates: Fates; readonly wrong: readonly string[] }> {
    let fates = NO_FATES;
    const wrong: string[] = [];
    for (const { last, architectures } of this.#existing()) {
      if (last === undefined) continue;
      const facts = { namespace: this.namespace, architectures, nodes };
      const fate = await judgePod(this.#bed.controlPlane, last, facts);
      fates = addFate(fates, fate);
      if (fate === "stuck" || fate === "misplaced" || fate === "missed") wrong.push(`${fate}: ${JSON.stringify(last)}`);
    }
    return { fates, wrong };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#polling[Symbol.asyncDispose]();
    const path = `/api/v1/namespaces/${this.namespace}`;
    await this.#bed.controlPlane.request("DELETE", `${path}/pods?gracePeriodSeconds=0`);
    await this.#bed.controlPlane.request("DELETE", path);
  }

  #existing(): readonly Followed[] {
    return [...this.#pods.values()].filter(({ isRefused, last }) => !isRefused || last !== undefined);
  }

  async #look(): Promise<void> {
    // The API server may be away: the next look shows.
    const pods = await listPods(this.#bed.controlPlane, this.namespace).catch(() => []);
    const nowMs = performance.now();
    for (const pod of pods) {
      const followed = this.#pods.get(pod.name);
      if (followed === undefined) continue;
      followed.last = pod;
      if (isReleased(pod)) followed.releasedMs ??= nowMs;
      if (isScheduled(pod)) followed.scheduledMs ??= nowMs;
    }
  }
}
