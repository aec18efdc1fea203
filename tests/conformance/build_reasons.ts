// Why a row about image builds has no test that carries its id.
import { covered, differs, internals, notYet } from "./reason.ts";
import type { Reason } from "./reasons.ts";

const ROLL_OUT =
  "what nodes run is set on the MachineOSConfig; the machine config operator's node controller and server roll it out as before";
const NO_NODE = "what is built is decided, on a simulated cluster; that nodes take it is the machine config operator's";
const OWNERS = "what belongs to a build goes by its owners, which the API server's garbage collector follows";
const HELPER = "a helper of the machine config operator's code without effect outside of it";
const WRITER = "the digest is handed over by the program of the builder's image";
const SHUTDOWN =
  "every step is decided anew from what the cluster says, so nothing has to be waited for at the end, and the next start goes on";
const TAGS = "no list of tags is read: what is looked for is known by its digest, or by the tag of its build key";
const COREOS = "needs images and nodes of Red Hat CoreOS with their subscriptions";
const PUBLIC = "needs accounts at public registries; what they answer is in row P-118";
const OPERATOR_STATUS =
  "the ClusterOperator machine-config is the machine config operator's: the condition BuildNotPossible of the MachineOSConfig says field, secret and what is wrong";
const SAME_TLS = "commands and builds push over the TLS of inspections";
const NO_LOGIN = "neither of its two registries asks for a login";

/** One for each row at most. */
export const BUILD_REASONS: readonly Reason[] = [
  internals(["O-040"], HELPER),
  internals(["O-052..054", "O-056"], OWNERS),
  internals(["O-057..059"], WRITER),
  internals(["O-093"], SHUTDOWN),
  internals(["O-110", "O-111", "O-113..117", "O-121", "O-134..137", "O-139", "O-141..142"], ROLL_OUT),
  internals(["O-120", "O-124", "O-133", "O-144", "O-150"], NO_NODE),
  differs(["O-138"], OPERATOR_STATUS, "O-084 a secret that cannot be used is said, and waited for"),
  covered(
    ["P-100"],
    NO_LOGIN,
    "index assemble: whoever reads the tag while it moves gets a whole index each time (P-149)",
  ),
  covered(["P-121"], SAME_TLS, "registry TLS: --registry-ca is trusted; without it the message names the way to trust"),
  internals(["P-122"], TAGS),
  notYet(["O-102"], PUBLIC),
  notYet(["O-126", "O-151"], COREOS),
];
