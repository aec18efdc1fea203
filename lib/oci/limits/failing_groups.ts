// The failing groups of a host's repositories. The repositories of a group share the first path segment: a project, an
// organisation, a pull-through cache. A repository that always fails must not stop those of other tenants on its host.
// A silent host must not be discovered group by group, at seven seconds a request.
//
// A registry that names this host as its token server is its own group: a failure may be that registry's fault.
import { LRUCache } from "lru-cache";
import type { Clock } from "../../clock.ts";
import { atMost, livingBy } from "../cache_limits.ts";
import type { Circuit } from "./circuit.ts";

/** With so many failing groups the host itself counts as failing. */
const GROUPS_OF_A_HOST = 3;
/** Users may name any number of repositories. */
const MAX_GROUPS = 64;
/** A group that nobody asks for again is forgotten this long after its last failure (ms). */
const LIFE_MS = 300_000;
const TOKEN_SERVER = "@";

export class FailingGroups {
  readonly #circuits: LRUCache<string, Circuit>;
  readonly #makeCircuit: (group: string) => Circuit;

  constructor(clock: Clock, makeCircuit: (group: string) => Circuit) {
    this.#circuits = new LRUCache({ ...atMost(MAX_GROUPS), ttl: LIFE_MS, ...livingBy(clock) });
    this.#makeCircuit = makeCircuit;
  }

  get circuits(): readonly Circuit[] {
    return [...this.#circuits.values()];
  }

  /** The circuit of this group; undefined while nothing of it has failed. */
  of(group: string): Circuit | undefined {
    return this.#circuits.get(group);
  }

  /** The circuit of a group that fails now; it may be new. */
  getOrMake(group: string): Circuit {
    const circuit = this.of(group) ?? this.#makeCircuit(group);
    this.#circuits.set(group, circuit);
    return circuit;
  }

  worked(group: string): void {
    this.of(group)?.worked();
    this.#circuits.delete(group);
  }

  /** Whether so many groups fail that the host itself counts as failing. */
  get isHostFailing(): boolean {
    return [...this.#circuits.keys()].filter((group) => !isTokenServerGroup(group)).length >= GROUPS_OF_A_HOST;
  }
}

export function groupOf(repository: string): string {
  const slash = repository.indexOf("/");
  return slash < 0 ? repository : repository.slice(0, slash);
}

/** The group of the requests to a token server that this registry names. */
export function tokenServerGroup(registry: string): string {
  return TOKEN_SERVER + registry;
}

export function isTokenServerGroup(group: string): boolean {
  return group.startsWith(TOKEN_SERVER);
}
