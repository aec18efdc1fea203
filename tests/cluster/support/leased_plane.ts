// Control planes that a run keeps ready for its tests, one test at a time each: starting one takes ten seconds on a busy
// machine, and putting one in order again about one. run.ts makes them; a test that is run by itself finds none.
import { replaceFile } from "../../support/replace_file.ts";
import { AdminConnection, type ClusterAccess } from "./cluster_access.ts";
import { parseCoordinates } from "./coordinates.ts";
import { type EtcdState, putBack, readState } from "./etcd_state.ts";
import { CONFIGS } from "./objects.ts";
import { waitToOwn } from "./owners.ts";
import { waitUntil } from "./wait.ts";

/** Name of the environment variable with the folder that has a file for each. */
export const PLANES_VARIABLE = "ARCHWAY_TEST_PLANES";

/** How a test finds it: with what, of everything that tests add to a new control plane. */
export interface PlaneState {
  readonly name: string;
  /** Paths of the kinds that it serves beside its own. */
  readonly kinds: readonly string[];
  /** Whether objects of these kinds are owners from the first moment, so that no test sees a refusal of that. Default no. */
  readonly areOwners?: boolean;
  /** Makes a bare one so, at the first test that wants it there; absent: each is made so at the start of the run. */
  readonly make?: (cluster: ClusterAccess) => Promise<void>;
}

export const BARE: PlaneState = { name: "bare", kinds: [] };
/** With the nodes of most tests and Archway's manifests but for its Deployment. */
export const INSTALLED: PlaneState = { name: "installed", kinds: [CONFIGS] };

export interface ReadyPlane {
  readonly coordinates: string;
  readonly etcdUrl: string;
  readonly kubeconfigFile: string;
  /** What its etcd holds in each state that it was in, by the name of the state. */
  readonly states: Readonly<Record<string, EtcdState>>;
}

export interface LeasedPlane extends AsyncDisposable {
  readonly controlPlane: ClusterAccess;
  readonly kubeconfigFile: string;
}

/** Takes one that is free, best one that was left in this state, and puts it so; undefined when there is none. */
export async function leasePlane(state: PlaneState): Promise<LeasedPlane | undefined> {
  const folder = Deno.env.get(PLANES_VARIABLE);
  if (folder === undefined) return undefined;
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  const files = names.filter((name) => name.endsWith(".json")).sort().map((name) => `${folder}/${name}`);
  const others: string[] = [];
  for (const file of files) {
    if ((await readLast(file)).name !== state.name) others.push(file);
    else if (await take(file)) return await open(file, state);
  }
  for (const file of others) if (await take(file)) return await open(file, state);
  return undefined;
}

async function readLast(file: string): Promise<Pick<PlaneState, "name" | "kinds">> {
  const text = await Deno.readTextFile(lastFile(file)).catch(() => undefined);
  return text === undefined ? INSTALLED : JSON.parse(text);
}

function lastFile(file: string): string {
  return `${file}.last`;
}

async function take(file: string): Promise<boolean> {
  try {
    using _taken = await Deno.open(takenFile(file), { createNew: true, write: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

function takenFile(file: string): string {
  return `${file}.taken`;
}

/** One that cannot be put in order stays taken: one test fails by it, and no other. */
async function open(file: string, state: PlaneState): Promise<LeasedPlane> {
  const plane: ReadyPlane = JSON.parse(await Deno.readTextFile(file));
  const last = await readLast(file);
  const { etcdUrl, kubeconfigFile } = plane;
  await using undo = new AsyncDisposableStack();
  const { access } = undo.use(new AdminConnection(parseCoordinates(plane.coordinates)));
  const states = { ...plane.states };
  const known = states[state.name] === undefined ? BARE : state;
  const wanted = states[known.name];
  if (wanted === undefined) throw new Error(`Cannot put ${file} in order: it has no state "${known.name}"`);
  states[known.name] = await putBack(etcdUrl, wanted);
  // Archway's own go as well where a test has installed them.
  await servesAlone(access, known.kinds, [...INSTALLED.kinds, ...last.kinds]);
  if (known !== state) {
    await state.make?.(access);
    states[state.name] = await readState(etcdUrl);
  }
  if (state.areOwners === true && last.name !== state.name) {
    await waitToOwn(access, state.kinds);
  }
  await Deno.writeTextFile(file, JSON.stringify({ ...plane, states }));
  await replaceFile(lastFile(file), JSON.stringify({ name: state.name, kinds: state.kinds }));
  await Deno.remove(`${access.directory}/kubectl-cache`, { recursive: true }).catch(() => {});
  // The API server appends: what it writes from now on is of this test.
  if (access.auditLogFile !== undefined) await Deno.truncate(access.auditLogFile);
  const owned = undo.move();
  return {
    controlPlane: access,
    kubeconfigFile,
    [Symbol.asyncDispose]: async () => {
      await owned.disposeAsync();
      await Deno.remove(takenFile(file));
    },
  };
}

/** Waits until the kinds are served, and none of the others: definitions that come back, or go, do so a moment later. */
async function servesAlone(
  access: ClusterAccess,
  kinds: readonly string[],
  others: readonly string[],
): Promise<void> {
  for (const path of new Set([...kinds, ...others])) {
    const wanted = kinds.includes(path) ? 200 : 404;
    await waitUntil(`${path}: ${wanted}`, async () => (await access.request("GET", path)).status === wanted);
  }
}
