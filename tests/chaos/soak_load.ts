// Pods that come and go for as long as a soak lasts, each judged before it goes.
import { index, type WalkBed } from "../cluster/support/walk_bed.ts";
import { isReleased, isScheduled, listPods, type PodOutcome, renderPod } from "../cluster/support/pods.ts";
import { pause, repeatedly } from "../cluster/support/wait.ts";
import { addFate, type Fates, judgePod, NO_FATES } from "./fate.ts";

/** Between two creations (ms): 5 pods a second. */
const CREATE_EVERY_MS = 200;
/** Every so many pods are of an image that is not cached anywhere. */
const PODS_PER_IMAGE = 40;
const REAP_EVERY_MS = 1_000;
/** A pod exists at least so long (ms). */
const LIFETIME_MS = 10_000;

const ARCHITECTURES: readonly (readonly string[])[] = [
  ["arm64"],
  ["amd64", "arm64"],
  ["s390x"],
  ["amd64", "ppc64le"],
];

interface SoakImage {
  readonly reference: string;
  readonly architectures: readonly string[];
}

interface Lodger {
  readonly architectures: readonly string[];
  readonly createdMs: number;
  releasedMs?: number;
}

export interface LoadView {
  readonly created: number;
  readonly fates: Fates;
  readonly alive: number;
  readonly worstGateMs: number;
  readonly wrong: readonly string[];
  readonly failures: readonly string[];
}

export class SoakLoad {
  readonly #bed: WalkBed;
  readonly #namespace: string;
  readonly #nodes: ReadonlyMap<string, string>;
  readonly #lodgers = new Map<string, Lodger>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #failures: string[] = [];
  readonly #wrong: string[] = [];
  #fates = NO_FATES;
  #created = 0;
  #worstGateMs = 0;
  #isStopped = false;
  #creating: Promise<void> | undefined;
  #reaping: AsyncDisposable | undefined;

  constructor(bed: WalkBed, place: { readonly namespace: string; readonly nodes: ReadonlyMap<string, string> }) {
    this.#bed = bed;
    this.#namespace = place.namespace;
    this.#nodes = place.nodes;
  }

  start(): void {
    this.#creating = this.#createForEver();
    this.#reaping = repeatedly(REAP_EVERY_MS, () => this.#reap(LIFETIME_MS));
  }

  view(): LoadView {
    return {
      created: this.#created,
      fates: this.#fates,
      alive: this.#lodgers.size,
      worstGateMs: this.#worstGateMs,
      wrong: this.#wrong,
      failures: this.#failures,
    };
  }

  /** Creates no more, waits until the last pods are placed or `patienceMs` are over, and judges them. */
  async stop(patienceMs: number): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#creating, this.#reaping?.[Symbol.asyncDispose]()]);
    await Promise.all(this.#underWay);
    const endMs = performance.now() + patienceMs;
    while (this.#lodgers.size > 0 && performance.now() < endMs) {
      await this.#reap(0);
      await pause(REAP_EVERY_MS);
    }
    for (const name of this.#lodgers.keys()) this.#note(name, "stuck");
  }

  async #createForEver(): Promise<void> {
    let image: SoakImage = { reference: "", architectures: [] };
    for (let number = 0; !this.#isStopped; number++) {
      if (number % PODS_PER_IMAGE === 0) image = await this.#pushImage(number / PODS_PER_IMAGE);
      const creating = this.#create(`pod-${number}`, image).finally(() => this.#underWay.delete(creating));
      this.#underWay.add(creating);
      await pause(CREATE_EVERY_MS);
    }
  }

  async #pushImage(number: number): Promise<SoakImage> {
    const architectures = ARCHITECTURES[number % ARCHITECTURES.length] ?? [];
    return { reference: await this.#bed.push(`soak/app-${number}`, index(...architectures)), architectures };
  }

  async #create(name: string, { reference, architectures }: SoakImage): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}/pods`;
    const pod = renderPod({ name, images: [reference] });
    try {
      const { status, body } = await this.#bed.controlPlane.request("POST", path, pod);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      this.#created++;
      this.#lodgers.set(name, { architectures, createdMs: performance.now() });
    } catch (error) {
      this.#failures.push(`${name}: ${String(error)}`);
    }
  }

  async #reap(lifetimeMs: number): Promise<void> {
    const nowMs = performance.now();
    for (const pod of await listPods(this.#bed.controlPlane, this.#namespace)) {
      const lodger = this.#lodgers.get(pod.name);
      if (lodger === undefined) continue;
      if (isReleased(pod)) lodger.releasedMs ??= nowMs;
      this.#worstGateMs = Math.max(this.#worstGateMs, (lodger.releasedMs ?? nowMs) - lodger.createdMs);
      if (isScheduled(pod) && nowMs - lodger.createdMs >= lifetimeMs) await this.#bury(pod, lodger);
    }
  }

  async #bury(pod: PodOutcome, { architectures }: Lodger): Promise<void> {
    const { controlPlane } = this.#bed;
    const facts = { namespace: this.#namespace, architectures, nodes: this.#nodes };
    this.#note(pod.name, await judgePod(controlPlane, pod, facts));
    this.#lodgers.delete(pod.name);
    const path = `/api/v1/namespaces/${this.#namespace}/pods/${pod.name}?gracePeriodSeconds=0`;
    await controlPlane.request("DELETE", path);
  }

  #note(name: string, fate: keyof Fates): void {
    this.#fates = addFate(this.#fates, fate);
    if (fate === "stuck" || fate === "misplaced") this.#wrong.push(`${name} ${fate}`);
  }
}
