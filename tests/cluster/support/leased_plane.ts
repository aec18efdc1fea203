// Control planes that a run keeps ready for its tests, one test at a time each: starting one takes ten seconds on a busy
// machine, and putting one in order again less than one. run.ts makes them; a test that is run by itself finds none.
import { AdminConnection, type ClusterAccess } from "./cluster_access.ts";
import { parseCoordinates } from "./coordinates.ts";
import { type EtcdState, putBack } from "./etcd_state.ts";
import { waitUntil } from "./wait.ts";

/** Name of the environment variable with the folder that has a file for each. */
export const PLANES_VARIABLE = "ARCHWAY_TEST_PLANES";

/** How a test finds it: `bare` as it was started, or with the nodes of most tests and Archway's manifests but for its Deployment. */
export type PlaneState = "bare" | "installed";

/** What the file of a control plane says. */
export interface ReadyPlane {
  /** As renderCoordinates() wrote them. */
  readonly coordinates: string;
  readonly etcdUrl: string;
  /** Of Archway's own ServiceAccount. */
  readonly kubeconfigFile: string;
  readonly states: Readonly<Record<PlaneState, EtcdState>>;
}

/** A control plane for one test. Disposing it gives it back. */
export interface LeasedPlane extends AsyncDisposable {
  readonly controlPlane: ClusterAccess;
  readonly kubeconfigFile: string;
}

const CONFIGS = "/apis/multiarch.openshift.io/v1beta1/clusterpodplacementconfigs";

/** Takes one that is free and puts it in this state; undefined when there is none. */
export async function leasePlane(state: PlaneState = "installed"): Promise<LeasedPlane | undefined> {
  const folder = Deno.env.get(PLANES_VARIABLE);
  if (folder === undefined) return undefined;
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  for (const name of names.filter((each) => each.endsWith(".json")).sort()) {
    if (await take(`${folder}/${name}`)) return await open(`${folder}/${name}`, state);
  }
  return undefined;
}

/** Whether the file is ours now. */
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
  const { etcdUrl, kubeconfigFile } = plane;
  const states = { ...plane.states, [state]: await putBack(etcdUrl, plane.states[state]) };
  await Deno.writeTextFile(file, JSON.stringify({ ...plane, states }));
  await using undo = new AsyncDisposableStack();
  const { access } = undo.use(new AdminConnection(parseCoordinates(plane.coordinates)));
  // CRDs that come back are served a moment later, and so is what went with them.
  const served = state === "installed" ? 200 : 404;
  await waitUntil("the kinds of the state", async () => (await access.request("GET", CONFIGS)).status === served);
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
